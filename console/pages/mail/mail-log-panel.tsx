import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Time } from '../../ui/time.tsx';
import { MailState } from './mail-state.tsx';

/** The current state of a mail at the provider. */
const AtProvider = ({ projectId, providerId }: { readonly projectId: string; readonly providerId: string }) => {
  const found = useQuery('get-project-mail-log', { projectId, providerId });
  const { data, problem } = found.value;
  if (problem) return <ProblemNote problem={problem} onRetry={found.reload} />;
  if (!data) return <p class="muted">{t.loading}</p>;
  if (!data.providerStatus) return <p class="muted">{t.mail.unknownToProvider}</p>;
  return <pre class="card whole">{JSON.stringify(data.providerStatus, null, 2)}</pre>;
};

/** One mail: its recipients, and its state here and at the provider. */
export const MailLogPanel = ({
  projectId,
  log,
  onClose,
}: {
  readonly projectId: string;
  readonly log: Data<'list-project-mail-logs'>[number];
  readonly onClose: () => void;
}) => (
  <Panel title={log.subject || '–'} onClose={onClose}>
    <p>
      <MailState status={log.status} /> <Time at={log.sentAt} /> {log.reason}
    </p>
    <p class="muted">{log.to.join(', ')}</p>
    <h3>{t.mail.atProvider}</h3>
    {log.providerEmailId === null ? (
      <p class="muted">{t.mail.notAtProvider}</p>
    ) : (
      <AtProvider projectId={projectId} providerId={log.providerEmailId} />
    )}
  </Panel>
);
