import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { say } from '../../ui/toast.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { Deliveries } from './deliveries.tsx';
import { NewSecret } from './new-secret.tsx';
import { ReplaySince } from './replay-since.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { OnOrOff } from './webhook-state.tsx';

/** A webhook: its events, its deliveries, and a test. */
export const WebhookPanel = ({
  projectId,
  webhookId,
  onClose,
}: {
  readonly projectId: string;
  readonly webhookId: string;
  readonly onClose: () => void;
}) => {
  const found = useQuery('get-webhook', { projectId, webhookId });
  const { data: webhook, problem } = found.value;
  const editing = useSignal(false);
  const secret = useSignal<string | undefined>(undefined);
  const edit = (is: boolean) => () => {
    editing.value = is;
  };
  const forget = () => {
    secret.value = undefined;
  };
  const at = { projectId, webhookId };
  return (
    <Panel title={webhook ? new URL(webhook.url).host : webhookId} onClose={onClose}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {webhook && (
        <>
          <p>
            <OnOrOff enabled={webhook.enabled} /> <span class="mono">{webhook.url}</span>
          </p>
          <p class="mono small">{webhook.events.join(' ')}</p>
          <p class="muted small">{t.webhooks.of(webhook.collections)}</p>
          <div class="row">
            <Act
              onAct={async () => {
                await request('test-webhook', at);
                say(t.webhooks.tested);
              }}
            >
              {t.webhooks.test}
            </Act>
            <Act
              onAct={async () => {
                await request('update-webhook', { ...at, body: { enabled: !webhook.enabled } });
              }}
            >
              {webhook.enabled ? t.webhooks.switchOff : t.webhooks.switchOn}
            </Act>
            <Button onClick={edit(true)}>{t.acts.edit}</Button>
            <Act
              onAct={async () => {
                secret.value = (await request('rotate-webhook-secret', at)).data.secret;
              }}
            >
              {t.keys.rotate(t.webhooks.secret)}
            </Act>
            <ConfirmedAct
              kind="danger"
              act={t.webhooks.remove}
              text={t.webhooks.removeText}
              name={new URL(webhook.url).host}
              onConfirm={async () => {
                await request('delete-webhook', at);
                onClose();
              }}
            />
          </div>
          <h3>{t.webhooks.deliveries}</h3>
          <Deliveries {...at} />
          <ReplaySince {...at} />
          {editing.value && (
            <Dialog title={t.acts.edit} onClose={() => leaving(edit(false))}>
              <WebhookForm
                name="open"
                act={t.acts.save}
                first={{ url: webhook.url, events: webhook.events, collections: webhook.collections ?? null }}
                onClose={edit(false)}
                onSubmit={async ({ url, events, collections }) => {
                  const body = { url, events: [...events], collections: collections && [...collections] };
                  await request('update-webhook', { ...at, body });
                  editing.value = false;
                }}
              />
            </Dialog>
          )}
          {secret.value && <NewSecret title={t.keys.rotate(t.webhooks.secret)} secret={secret.value} onKept={forget} />}
        </>
      )}
    </Panel>
  );
};
