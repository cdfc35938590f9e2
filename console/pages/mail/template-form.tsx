import { cutText } from '../../../shared/core/text.ts';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { leaving } from '../../ui/unsaved.tsx';

interface Props {
  readonly projectId: string;
  /** The template to edit; absent for a new one. */
  readonly template?: Data<'get-mail-template'>;
  readonly onClose: () => void;
}

const maxKeyLength = 64;

/** The key that a name suggests: `order-shipped` for *Order shipped*. */
const keyFor = (name: string): string =>
  cutText(name.toLowerCase().replaceAll(/[^a-z0-9._]+/g, '-'), maxKeyLength).replaceAll(/^-|-$/g, '');

export const TemplateForm = ({ projectId, template, onClose }: Props) => {
  const { draft, set, isTouched } = useDraft({
    name: template?.name ?? '',
    key: template?.key ?? '',
    subject: template?.subject ?? '',
    html: template?.html ?? '',
    text: template?.text ?? '',
  });
  const taken = useQuery('list-mail-templates', { projectId, query: { limit: 100 } }).value.data?.items.map(
    (one) => one.key,
  );
  const suggested = (name: string): string => (taken?.includes(keyFor(name)) ? '' : keyFor(name));
  const submit = async () => {
    const { name, key, subject, html, text } = draft.value;
    const body = { name, subject, key: key || null, html: html || null, text: text || null };
    if (template) await request('update-mail-template', { projectId, templateId: template._id, body });
    else await request('create-mail-template', { projectId, body });
    onClose();
  };
  const { name, key, subject, html, text } = draft.value;
  return (
    <Dialog title={template?.name ?? t.mail.newTemplate} onClose={() => leaving(onClose)}>
      <KeptDraft
        name={template?._id ?? 'new'}
        draft={draft.value}
        isTouched={isTouched}
        onRestore={(earlier) => {
          draft.value = earlier;
        }}
      />
      <Form guarded touched={isTouched} act={t.acts.save} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <>
            <Field
              label={t.mail.name}
              required
              maxLength={100}
              value={name}
              onInput={(event) => {
                const before = draft.peek();
                set('name')(event);
                // A key of the account emails or of another template is chosen, never suggested.
                if (template || before.key !== suggested(before.name)) return;
                draft.value = { ...draft.peek(), key: suggested(draft.peek().name) };
              }}
              wrong={wrong('name')}
            />
            <Field
              label={t.mail.key}
              hint={t.mail.keyWhy}
              maxLength={maxKeyLength}
              value={key}
              onInput={set('key')}
              wrong={wrong('key')}
            />
            <Field
              label={t.mail.subject}
              hint={t.mail.subjectWhy}
              required
              maxLength={500}
              value={subject}
              onInput={set('subject')}
              wrong={wrong('subject')}
            />
            <TextField label={t.mail.html} value={html} onInput={set('html')} wrong={wrong('html')} />
            <TextField label={t.mail.text} value={text} onInput={set('text')} wrong={wrong('text')} />
          </>
        )}
      </Form>
    </Dialog>
  );
};
