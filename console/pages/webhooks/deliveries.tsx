import { useQuery } from '../../api/query.ts';
import { useRepeat } from '../../api/repeat.ts';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { DeliveryState } from './webhook-state.tsx';

type Delivery = Item<'list-webhook-deliveries'>;

/** The pause while a delivery is on its way, and otherwise. */
const [movingMs, calmMs] = [2000, 10_000];

/** The last response of the receiver. */
const lastAnswer = ({ attempts }: Delivery): string => {
  const last = attempts.at(-1);
  return last === undefined ? '–' : `${last.error ?? last.status ?? '–'}, ${t.api.took(last.ms)}`;
};

/** The deliveries of a webhook, newest first. They reload, more often while one is on its way. */
export const Deliveries = ({ projectId, webhookId }: { readonly projectId: string; readonly webhookId: string }) => {
  const list = useQuery('list-webhook-deliveries', { projectId, webhookId, query: { limit: 20 } });
  const { data, problem } = list.value;
  const isMoving = data?.items.some(({ state }) => state === 'waiting') ?? false;
  useRepeat(true, list.reload, isMoving ? movingMs : calmMs);
  if (problem && !data) return <ProblemNote problem={problem} onRetry={list.reload} />;
  if (data?.items.length === 0) return <p class="muted">{t.webhooks.noDeliveries}</p>;
  const columns: readonly Column<Delivery>[] = [
    { key: 'state', label: t.webhooks.state, cell: DeliveryState },
    { key: 'type', label: t.webhooks.event, cell: ({ type }) => <span class="mono">{type}</span> },
    { key: 'collection', label: t.webhooks.collection, cell: ({ collection = '–' }) => collection },
    { key: 'id', label: t.webhooks.eventId, cell: ({ eventId }) => <span class="mono">{eventId ?? '–'}</span> },
    { key: 'answer', label: t.webhooks.answer, cell: lastAnswer },
    { key: 'tries', label: t.webhooks.tries, number: true, cell: ({ attempts }) => attempts.length },
    { key: 'made', label: t.users.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'next', label: t.webhooks.next, cell: ({ nextAt }) => <Time at={nextAt} /> },
    {
      key: 'replay',
      label: '',
      cell: ({ _id, state }) =>
        state !== 'waiting' && (
          <Act
            kind="plain"
            onAct={async () => {
              await request('replay-webhook', { projectId, webhookId, body: { deliveryId: _id } });
              say(t.webhooks.replayed);
            }}
          >
            {t.webhooks.again}
          </Act>
        ),
    },
  ];
  return <Table label={t.webhooks.deliveries} columns={columns} items={data?.items} keyOf={({ _id }) => _id} />;
};
