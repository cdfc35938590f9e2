import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type MailLog = Data<'list-project-mail-logs'>[number];

const kinds = {
  queued: undefined,
  sent: undefined,
  delivered: 'good',
  bounced: 'danger',
  complained: 'danger',
  failed: 'danger',
} as const;

const State = ({ status }: Pick<MailLog, 'status'>) => {
  const kind = kinds[status];
  return <Badge {...(kind ? { kind } : {})}>{t.mail.states[status]}</Badge>;
};

const columns: readonly Column<MailLog>[] = [
  { key: 'status', label: t.mail.state, cell: State },
  { key: 'to', label: t.mail.to, cell: ({ to }) => to.join(', ') },
  { key: 'subject', label: t.mail.subject, cell: ({ subject }) => subject },
  { key: 'template', label: t.mail.template, cell: ({ templateUsed }) => templateUsed ?? '–' },
  { key: 'reason', label: t.mail.reason, cell: ({ reason }) => reason ?? '–' },
  { key: 'sent', label: t.mail.sent, cell: ({ sentAt }) => <Time at={sentAt} /> },
];

/** What was sent, the newest first. */
export const MailLogs = ({ projectId }: { readonly projectId: string }) => {
  const list = useQuery('list-project-mail-logs', { projectId });
  const { data, problem } = list.value;
  if (problem) return <ProblemNote problem={problem} onRetry={list.reload} />;
  if (data?.length === 0) return <Empty text={t.mail.noLogs} />;
  return <Table label={t.mail.parts.logs} columns={columns} items={data} keyOf={({ _id }) => _id} />;
};
