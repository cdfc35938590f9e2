import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { say } from '../../ui/toast.tsx';

/** Sends a webhook the changes since a time again. */
export const ReplaySince = ({ projectId, webhookId }: { readonly projectId: string; readonly webhookId: string }) => {
  const { draft, set } = useDraft({ since: '' });
  const replay = async () => {
    const since = new Date(draft.value.since).toISOString();
    await request('replay-webhook', { projectId, webhookId, body: { since } });
    say(t.webhooks.replayed);
  };
  return (
    <Form act={t.webhooks.replay} onSubmit={replay}>
      {(wrong) => (
        <Field
          label={t.webhooks.since}
          hint={t.webhooks.sinceWhy}
          type="datetime-local"
          required
          value={draft.value.since}
          onInput={set('since')}
          wrong={wrong('since')}
        />
      )}
    </Form>
  );
};
