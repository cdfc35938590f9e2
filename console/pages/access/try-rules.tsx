import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Collection } from '../../../shared/collections/collection.ts';
import { triedOperations } from '../../../shared/collections/rules/rule.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import { Problem } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { access } from '../../text/access.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { bodyOf } from '../api/sample.ts';
import { RefPicker } from '../documents/ref-picker.tsx';
import { triedRules } from './rule-outcomes.ts';
import { TryOutcome } from './try-outcome.tsx';
import { type ChosenUser, UserPicker } from './user-picker.tsx';

interface Props {
  readonly projectId: string;
  readonly collection: Collection;
  readonly known: readonly Collection[];
}

type Operation = (typeof triedOperations)[number];

/** The JSON object in a text. Anything else is an error of its field. */
const objectIn = (field: string, text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isPlainObject(value)) return value;
  const message = access.tried.noObject;
  throw new Problem(400, { message, errors: [{ field, message }] });
};

/** A document of the schema, and a change of one field that users may set. */
const examplesOf = ({ name, schema, rls }: Collection) => {
  const document = bodyOf({ name, schema, rls, newest: undefined });
  const isOpen = (key: string) => schema?.find((field) => field.key === key)?.write === undefined;
  const change = Object.entries(document).find(([key]) => isOpen(key));
  return {
    document: JSON.stringify(document),
    changes: JSON.stringify(change ? Object.fromEntries([change]) : {}),
  };
};

/** Shows what a request would return, with or without a user, and the outcome of each part of the rules. */
export const TryRules = ({ projectId, collection, known }: Props) => {
  // A rejected request names its operation and its user.
  const { query } = useLocation();
  const { draft, set } = useDraft({
    operation: query.operation ?? 'get',
    documentId: '',
    ...examplesOf(collection),
  });
  const user = useSignal<ChosenUser | undefined>(query.user ? { id: query.user, name: query.user } : undefined);
  const result = useSignal<(Data<'try-rules'> & { readonly operation: Operation; readonly rls: string }) | undefined>(
    undefined,
  );
  const { documentId, document, changes } = draft.value;
  const operation = triedOperations.find((each) => each === draft.value.operation) ?? 'get';
  const byId = operation !== 'create' && documentId !== '';
  const rls = JSON.stringify(collection.rls);
  const attempt = async () => {
    const { data } = await request('try-rules', {
      projectId,
      collectionName: collection.name,
      body: {
        operation,
        ...(user.value && { userId: user.value.id }),
        ...(byId ? { documentId } : { document: objectIn('document', document) }),
        ...(operation === 'update' && { changes: objectIn('changes', changes) }),
      },
    });
    result.value = { ...data, operation, rls };
  };
  // The outcome under earlier rules is not shown.
  const tried = result.value?.rls === rls ? result.value : undefined;
  return (
    <section class="card try">
      <div class="stack">
        <h2>{access.tried.title}</h2>
        <p>{access.tried.text}</p>
        <Form act={access.tried.act} onSubmit={attempt}>
          {(wrong) => (
            <>
              <UserPicker
                projectId={projectId}
                user={user.value}
                onChoose={(chosen) => {
                  user.value = chosen;
                }}
              />
              <Select
                label={access.tried.operation}
                value={operation}
                options={triedOperations.map((each) => [each, access.tried.operations[each]])}
                onInput={set('operation')}
              />
              {operation !== 'create' && (
                <div class="field">
                  <Field
                    label={access.tried.documentId}
                    hint={access.tried.orDocument}
                    value={documentId}
                    onInput={set('documentId')}
                    wrong={wrong('documentId')}
                  />
                  <div class="row">
                    <RefPicker
                      collectionName={collection.name}
                      onChoose={(id) => {
                        draft.value = { ...draft.value, documentId: id };
                      }}
                    />
                  </div>
                </div>
              )}
              {!byId && (
                <TextField
                  label={access.tried.document}
                  rows={4}
                  value={document}
                  onInput={set('document')}
                  wrong={wrong('document')}
                />
              )}
              {operation === 'update' && (
                <TextField
                  label={access.tried.changes}
                  rows={3}
                  value={changes}
                  onInput={set('changes')}
                  wrong={wrong('changes')}
                />
              )}
            </>
          )}
        </Form>
      </div>
      {tried && <TryOutcome result={tried} rules={triedRules(tried.operation, collection, known, tried.parts)} />}
    </section>
  );
};
