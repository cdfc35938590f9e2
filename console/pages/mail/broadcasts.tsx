import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { BroadcastForm } from './broadcast-form.tsx';
import { BroadcastPanel } from './broadcast-panel.tsx';
import { BroadcastState } from './broadcast-state.tsx';
import { idOf, type ProviderRecord, recordsOf, textIn, timeIn } from './provider.ts';
import { ProviderList } from './provider-list.tsx';

/** Mails to everybody in an audience: drafts, those that wait for their time, and those that were sent. */
export const Broadcasts = ({ projectId }: { readonly projectId: string }) => {
  const { path, query, route } = useLocation();
  const making = useSignal(false);
  const { data } = useQuery('list-project-audiences', { projectId, query: { limit: 100 } }).value;
  const audiences = new Map(recordsOf(data).map((one) => [idOf(one), textIn(one, 'name')]));
  const audienceOf = (broadcast: ProviderRecord): string => {
    const id = textIn(broadcast, 'audience_id') || textIn(broadcast, 'segment_id');
    return audiences.get(id) ?? id;
  };
  const addressOf = (id: string | undefined) => addressWith(path, query, { open: id });
  const close = () => {
    making.value = false;
  };
  const columns: readonly Column<ProviderRecord>[] = [
    {
      key: 'audience',
      label: t.mail.audience,
      cell: (broadcast) => <a href={addressOf(idOf(broadcast))}>{audienceOf(broadcast)}</a>,
    },
    { key: 'state', label: t.mail.state, cell: (broadcast) => <BroadcastState broadcast={broadcast} /> },
    { key: 'created', label: t.users.created, cell: (broadcast) => <Time at={timeIn(broadcast, 'created_at')} /> },
    { key: 'due', label: t.mail.due, cell: (broadcast) => <Time at={timeIn(broadcast, 'scheduled_at')} /> },
    { key: 'sent', label: t.mail.sent, cell: (broadcast) => <Time at={timeIn(broadcast, 'sent_at')} /> },
  ];
  return (
    <div class="stack">
      <div class="row">
        <Button
          kind="main-act"
          disabled={audiences.size === 0}
          onClick={() => {
            making.value = true;
          }}
        >
          {t.mail.newBroadcast}
        </Button>
        {data !== undefined && audiences.size === 0 && <span class="muted">{t.mail.audienceFirst}</span>}
      </div>
      <div class={query.open ? 'halves' : undefined}>
        <ProviderList
          row="list-project-broadcasts"
          input={{ projectId }}
          label={t.mail.parts.broadcasts}
          columns={columns}
          empty={t.mail.noBroadcasts}
          after="after"
          selected={query.open}
        />
        {query.open && (
          <BroadcastPanel
            key={query.open}
            projectId={projectId}
            id={query.open}
            audienceOf={audienceOf}
            onClose={() => route(addressOf(undefined))}
          />
        )}
      </div>
      {making.value && (
        <BroadcastForm
          projectId={projectId}
          audiences={audiences}
          onMade={(id) => {
            close();
            route(addressOf(id));
          }}
          onClose={close}
        />
      )}
    </div>
  );
};
