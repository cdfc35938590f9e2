import { useSignal } from '@preact/signals';
import { triedOperations } from '../../../shared/collections/rules/rule.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { objectIn } from '../documents/rules-text.ts';

type Result = Data<'try-rules'>;

const Outcome = ({ result: { allowed, status, code, parts } }: { readonly result: Result }) => (
  <div class="stack" role="status">
    <p>
      <strong>{allowed ? t.rls.tried.allowed : t.rls.tried.refused}</strong> {t.rls.tried.answer(status, code)}
    </p>
    {parts.length > 0 && (
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t.rls.tried.part}</th>
            <th scope="col">{t.rls.tried.outcome}</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ path, outcome }, place) => (
            // A rule that must hold before and after stands there twice.
            <tr key={`${place} ${path}`}>
              <td>
                <code>{path}</code>
              </td>
              <td>{t.rls.tried.outcomes[outcome]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </div>
);

/** What a request of a user, or of nobody, would be answered, and what each part of the rules comes to. */
export const TryRules = ({
  projectId,
  collectionName,
}: {
  readonly projectId: string;
  readonly collectionName: string;
}) => {
  const { draft, set } = useDraft({ operation: 'get', userId: '', documentId: '', document: '{}', changes: '{}' });
  const result = useSignal<Result | undefined>(undefined);
  const attempt = async () => {
    const { operation, userId, documentId, document, changes } = draft.value;
    const { data } = await request('try-rules', {
      projectId,
      collectionName,
      body: {
        operation: triedOperations.find((each) => each === operation) ?? 'get',
        ...(userId && { userId }),
        ...(documentId ? { documentId } : { document: objectIn('document', document) }),
        ...(operation === 'update' && { changes: objectIn('changes', changes) }),
      },
    });
    result.value = data;
  };
  const { operation, userId, documentId, document, changes } = draft.value;
  return (
    <section class="card stack measure">
      <h2>{t.rls.tried.title}</h2>
      <p>{t.rls.tried.text}</p>
      <Form act={t.rls.tried.act} onSubmit={attempt}>
        {(wrong) => (
          <>
            <Select
              label={t.rls.tried.operation}
              value={operation}
              options={triedOperations.map((each) => [each, t.rls.tried.operations[each]])}
              onInput={set('operation')}
            />
            <Field
              label={t.rls.tried.user}
              hint={t.rls.tried.nobody}
              value={userId}
              onInput={set('userId')}
              wrong={wrong('userId')}
            />
            <Field
              label={t.rls.tried.documentId}
              hint={t.rls.tried.orDocument}
              value={documentId}
              onInput={set('documentId')}
              wrong={wrong('documentId')}
            />
            {documentId === '' && (
              <TextField
                label={t.rls.tried.document}
                rows={4}
                value={document}
                onInput={set('document')}
                wrong={wrong('document')}
              />
            )}
            {operation === 'update' && (
              <TextField
                label={t.rls.tried.changes}
                rows={3}
                value={changes}
                onInput={set('changes')}
                wrong={wrong('changes')}
              />
            )}
          </>
        )}
      </Form>
      {result.value && <Outcome result={result.value} />}
    </section>
  );
};
