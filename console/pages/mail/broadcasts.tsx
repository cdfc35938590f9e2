import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { Listed } from '../../ui/listed.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { BroadcastForm } from './broadcast-form.tsx';
import { BroadcastPanel } from './broadcast-panel.tsx';
import { BroadcastState } from './broadcast-state.tsx';
import { idOf, type ProviderRecord, recordsOf, textIn, timeIn } from './provider.ts';
import { ProviderList } from './provider-list.tsx';

type AudienceOf = (broadcast: ProviderRecord) => string;

const columnsOf = (addressOf: (id: string) => string, audienceOf: AudienceOf): readonly Column<ProviderRecord>[] => [
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

export const Broadcasts = ({ projectId }: { readonly projectId: string }) => {
  const { data } = useQuery('list-project-audiences', { projectId, query: { limit: 100 } }).value;
  const { data: project } = useQuery('get-project', { projectId }).value;
  const audiences = new Map(recordsOf(data).map((one) => [idOf(one), textIn(one, 'name')]));
  const audienceOf: AudienceOf = (broadcast) => {
    const id = textIn(broadcast, 'audience_id') || textIn(broadcast, 'segment_id');
    return audiences.get(id) ?? id;
  };
  return (
    <Listed
      act={t.mail.newBroadcast}
      withoutAct={!project?.hasProviderApiKey || project.plan !== 'pro'}
      disabled={audiences.size === 0}
      note={data !== undefined && audiences.size === 0 && <span class="muted">{t.mail.audienceFirst}</span>}
      list={(open, addressOf, onOpen) => (
        <ProviderList
          row="list-project-broadcasts"
          input={{ projectId }}
          label={t.mail.parts.broadcasts}
          columns={columnsOf(addressOf, audienceOf)}
          empty={t.mail.noBroadcasts}
          after="after"
          selected={open}
          onOpen={onOpen}
        />
      )}
      panel={(open, onClose) => (
        <BroadcastPanel key={open} projectId={projectId} id={open} audienceOf={audienceOf} onClose={onClose} />
      )}
      form={(onMade, onClose) => (
        <BroadcastForm projectId={projectId} audiences={audiences} onMade={onMade} onClose={onClose} />
      )}
    />
  );
};
