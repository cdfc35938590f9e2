import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { List } from '../../ui/list.tsx';
import { Listed } from '../../ui/listed.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { SettingsProps } from '../settings/settings.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { WebhookPanel } from './webhook-panel.tsx';
import { OnOrOff } from './webhook-state.tsx';

const columnsOf = (addressOf: (id: string) => string): readonly Column<Item<'list-webhooks'>>[] => [
  { key: 'url', label: t.webhooks.url, cell: ({ _id, url }) => <a href={addressOf(_id)}>{url}</a> },
  { key: 'state', label: t.webhooks.state, cell: OnOrOff },
  { key: 'events', label: t.webhooks.events, cell: ({ events }) => <span class="mono">{events.join(' ')}</span> },
  { key: 'updated', label: t.mail.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export const Webhooks = ({ project: { _id: projectId } }: SettingsProps) => (
  <Listed
    act={t.webhooks.make}
    narrowList
    note={<span class="muted small">{t.webhooks.why}</span>}
    list={(open, addressOf, onOpen) => (
      <List
        row="list-webhooks"
        input={{ projectId }}
        label={t.settings.parts.webhooks}
        columns={columnsOf(addressOf)}
        keyOf={({ _id }) => _id}
        empty={t.webhooks.none}
        selected={open}
        onOpen={({ _id }) => onOpen(_id)}
      />
    )}
    panel={(open, onClose) => <WebhookPanel key={open} projectId={projectId} webhookId={open} onClose={onClose} />}
    form={(onMade, onClose) => <NewWebhook projectId={projectId} onMade={onMade} onClose={onClose} />}
  />
);
