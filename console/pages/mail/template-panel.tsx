import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { developer } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { HtmlPreview } from '../../ui/html-preview.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { say } from '../../ui/toast.tsx';
import { emptyVariables } from './empty-variables.ts';
import { TemplateForm } from './template-form.tsx';

/** The typed values of a template's variables. */
const variablesOf = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text || '{}') as Record<string, unknown>;
  } catch {
    throw new Error(t.mail.noJson);
  }
};

const TestMail = ({
  projectId,
  templateId,
  template,
}: {
  readonly projectId: string;
  readonly templateId: string;
  readonly template: Data<'get-mail-template'>;
}) => {
  const { draft, set } = useDraft({
    to: developer.value?.email ?? '',
    variables: JSON.stringify(emptyVariables(template), null, 2),
  });
  const send = async () => {
    const { to, variables } = draft.value;
    await request('send-test-mail', { projectId, templateId, body: { to, variables: variablesOf(variables) } });
    say(t.mail.testSent(to));
  };
  return (
    <Form act={t.mail.sendTest} onSubmit={send}>
      {(wrong) => (
        <>
          <Field
            label={t.mail.to}
            type="email"
            required
            value={draft.value.to}
            onInput={set('to')}
            wrong={wrong('to')}
          />
          <TextField
            label={t.mail.variables}
            rows={3}
            value={draft.value.variables}
            onInput={set('variables')}
            wrong={wrong('variables')}
          />
        </>
      )}
    </Form>
  );
};

/** A template: its preview, and a test mail. */
export const TemplatePanel = ({
  projectId,
  templateId,
  onClose,
}: {
  readonly projectId: string;
  readonly templateId: string;
  readonly onClose: () => void;
}) => {
  const found = useQuery('get-mail-template', { projectId, templateId });
  const { data: template, problem } = found.value;
  const asking = useSignal<'edit' | 'delete' | undefined>(undefined);
  const close = () => {
    asking.value = undefined;
  };
  return (
    <Panel title={template?.name ?? templateId} onClose={onClose}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {template && (
        <>
          <p>
            <strong>{template.subject}</strong>
          </p>
          {template.html && <HtmlPreview title={t.mail.preview} html={template.html} />}
          {template.text && <pre class="card whole">{template.text}</pre>}
          {!template.builtIn && (
            <div class="row">
              <Button
                onClick={() => {
                  asking.value = 'edit';
                }}
              >
                {t.acts.edit}
              </Button>
              <Button
                kind="danger"
                onClick={() => {
                  asking.value = 'delete';
                }}
              >
                {t.acts.delete}
              </Button>
            </div>
          )}
          <TestMail
            key={JSON.stringify(emptyVariables(template))}
            projectId={projectId}
            templateId={templateId}
            template={template}
          />
          {asking.value === 'edit' && <TemplateForm projectId={projectId} template={template} onClose={close} />}
          {asking.value === 'delete' && (
            <Confirm
              title={t.mail.deleteTemplate}
              text={t.mail.deleteTemplateText}
              name={template.name}
              label={t.mail.typeName}
              act={t.acts.delete}
              onClose={close}
              onConfirm={async () => {
                await request('delete-mail-template', { projectId, templateId });
                close();
                onClose();
              }}
            />
          )}
        </>
      )}
    </Panel>
  );
};
