import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { NewSecret } from './new-secret.tsx';
import { WebhookForm } from './webhook-form.tsx';

export const NewWebhook = ({
  projectId,
  onMade,
  onClose,
}: {
  readonly projectId: string;
  readonly onMade: (id: string) => void;
  readonly onClose: () => void;
}) => {
  const made = useSignal<Data<'create-webhook'> | undefined>(undefined);
  const webhook = made.value;
  if (webhook) return <NewSecret title={t.webhooks.make} secret={webhook.secret} onKept={() => onMade(webhook._id)} />;
  return (
    <Dialog title={t.webhooks.make} onClose={() => leaving(onClose)}>
      <WebhookForm
        name="new"
        act={t.acts.create}
        first={{ url: '', events: [], collections: null }}
        onClose={onClose}
        onSubmit={async ({ url, events, collections }) => {
          const body = { url, events: [...events], ...(collections ? { collections: [...collections] } : {}) };
          made.value = (await request('create-webhook', { projectId, body })).data;
        }}
      />
    </Dialog>
  );
};
