import { Problem } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { accounts } from '../../text/accounts.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

/** The JSON of a rule. Anything else is an error of its field. */
const ruleIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    const message = accounts.directory.noJson;
    throw new Problem(400, { message, errors: [{ field: 'directory.read', message }] });
  }
};

/** Which users may find each other, and the fields that they see. Without fields the directory is off. */
export const DirectoryForm = ({ project: { _id: projectId, directory } }: SettingsProps) => {
  const { draft, set } = useDraft({
    fields: directory?.fields.join(', ') ?? '',
    read: JSON.stringify(directory?.read ?? { $user: {} }),
  });
  const save = async () => {
    const fields = draft.value.fields.split(/[\s,]+/).filter(Boolean);
    const read = fields.length > 0 ? ruleIn(draft.value.read) : undefined;
    await request('update-project', { projectId, body: { directory: fields.length > 0 ? { read, fields } : null } });
    say(t.settings.saved);
  };
  return (
    <section class="card stack">
      <h2>{accounts.directory.title}</h2>
      <p class="muted">{accounts.directory.why}</p>
      <Form guarded act={accounts.directory.act} onSubmit={save}>
        {(wrong) => {
          const wrongField = draft.value.fields.split(/[\s,]+/).map((_field, at) => wrong(`directory.fields.${at}`));
          return (
            <>
              <Field
                label={accounts.directory.fields}
                hint={accounts.directory.fieldsWhy}
                value={draft.value.fields}
                onInput={set('fields')}
                wrong={wrong('directory.fields') ?? wrong('directory') ?? wrongField.find(Boolean)}
              />
              <TextField
                label={accounts.directory.read}
                rows={3}
                value={draft.value.read}
                onInput={set('read')}
                wrong={wrong('directory.read')}
              />
            </>
          );
        }}
      </Form>
    </section>
  );
};
