import { useSignal } from '@preact/signals';
import { problemOf } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { say } from '../../ui/toast.tsx';
import { type ContactLine, contactLines } from './contact-lines.ts';

interface Refused {
  readonly line: string;
  readonly why: string;
}

/** The provider takes one contact at a time, so more would take too long to watch. */
const mostLines = 500;

/** Adds contacts, one per line. Rejected lines stay in the field, with the reason. */
export const AddContacts = (place: { readonly projectId: string; readonly audienceId: string }) => {
  const text = useSignal('');
  const refused = useSignal<readonly Refused[]>([]);
  const progress = useSignal<string | undefined>(undefined);
  const add = async ({ line, ...body }: ContactLine): Promise<Refused | undefined> => {
    try {
      await request('create-project-contact', { ...place, body });
      return undefined;
    } catch (error) {
      const { message, fields } = problemOf(error);
      return { line, why: fields[0]?.message ?? (message || t.problem.none) };
    }
  };
  const submit = async () => {
    const sent = text.peek();
    const lines = contactLines(sent);
    if (lines.length > mostLines) throw new Error(t.mail.tooManyLines(mostLines));
    const failed: Refused[] = [];
    for (const [at, line] of lines.entries()) {
      progress.value = t.mail.adding(at + 1, lines.length);
      const failure = await add(line);
      if (failure) failed.push(failure);
    }
    progress.value = undefined;
    refused.value = failed;
    if (text.peek() === sent) text.value = failed.map(({ line }) => line).join('\n');
    say(t.mail.added(lines.length - failed.length));
  };
  return (
    <Form act={t.mail.add} onSubmit={submit}>
      {() => (
        <>
          <TextField
            label={t.mail.addContacts}
            rows={3}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
          <p class="small muted">{t.mail.addContactsWhy}</p>
          {progress.value && <p role="status">{progress.value}</p>}
          {refused.value.length > 0 && (
            <div class="note problem" role="alert">
              {refused.value.map(({ line, why }) => (
                <p key={line}>
                  <span class="mono">{line}</span> {why}
                </p>
              ))}
            </div>
          )}
        </>
      )}
    </Form>
  );
};
