import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { useRepeat } from '../../api/repeat.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Empty } from '../../ui/empty.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MailLogPanel } from './mail-log-panel.tsx';
import { MailState } from './mail-state.tsx';

type MailLog = Data<'list-project-mail-logs'>[number];

const lookMs = 2000;

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'full' });

/** The state of such a mail may change without an action here. */
const isMoving = ({ status }: MailLog): boolean => status === 'queued' || status === 'sent';

/** Mails that stay `sent` for longer get no events, so only those of the last minutes are reloaded. */
const movingMs = 10 * 60_000;

/** The sent mails, newest first. They reload while one of them is on its way. */
export const MailLogs = ({ projectId }: { readonly projectId: string }) => {
  const { path, query, route } = useLocation();
  const list = useQuery('list-project-mail-logs', { projectId });
  const { data, problem } = list.value;
  const moving = data?.some((log) => isMoving(log) && Date.now() - Date.parse(log.sentAt) < movingMs) ?? false;
  useRepeat(moving, list.reload, lookMs);
  if (problem && !data) return <ProblemNote problem={problem} onRetry={list.reload} />;
  if (data?.length === 0) return <Empty text={t.mail.noLogs} />;
  const addressOf = (id: string | undefined) => addressWith(path, query, { open: id });
  const columns: readonly Column<MailLog>[] = [
    { key: 'status', label: t.mail.state, cell: MailState },
    {
      key: 'subject',
      label: t.mail.subject,
      cell: ({ _id, subject }) => <a href={addressOf(_id)}>{subject || '–'}</a>,
    },
    { key: 'to', label: t.mail.to, cell: ({ to }) => to.join(', ') },
    { key: 'template', label: t.mail.template, cell: ({ templateUsed }) => templateUsed ?? '–' },
    { key: 'reason', label: t.mail.reason, cell: ({ reason }) => reason ?? '–' },
    { key: 'sent', label: t.mail.sent, cell: ({ sentAt }) => <Time at={sentAt} /> },
  ];
  const open = data?.find(({ _id }) => _id === query.open);
  return (
    <div class={open ? 'halves' : undefined}>
      <Table
        label={t.mail.parts.logs}
        columns={columns}
        items={data}
        keyOf={({ _id }) => _id}
        group={({ sentAt }) => dayFormat.format(Date.parse(sentAt))}
        selected={query.open}
        onOpen={({ _id }) => route(addressOf(_id))}
      />
      {open && (
        <MailLogPanel key={open._id} projectId={projectId} log={open} onClose={() => route(addressOf(undefined))} />
      )}
    </div>
  );
};
