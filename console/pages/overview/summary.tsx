import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { bytesText } from '../../ui/bytes.tsx';
import type { Point } from '../../ui/chart.tsx';
import { Line } from '../../ui/line.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { askedOf, type Day, errorsOf, pointsOf } from '../usage/days.ts';
import { MissingIndexes } from '../usage/missing-indexes.tsx';

const Stat = ({
  href,
  label,
  value,
  points,
  note,
}: {
  readonly href: string;
  readonly label: string;
  /** Absent until known. */
  readonly value: string | number | undefined;
  /** The same measure for each of the last 30 days. */
  readonly points?: readonly Point[];
  readonly note?: string;
}) => (
  <a class="stat" href={href}>
    <span class="muted small">{label}</span>
    <strong>{value ?? '…'}</strong>
    {points && <Line label={label} points={points} />}
    <span class="muted small">{points ? t.summary.days : note}</span>
  </a>
);

/** Today's numbers of a project, their last 30 days, and links to the details. */
export const Summary = ({ projectId }: { readonly projectId: string }) => {
  const base = `/projects/${projectId}`;
  const used = useQuery('get-usage', { projectId });
  const stats = useQuery('get-request-stats', { projectId, query: { days: 30 } });
  const lacking = useQuery('list-missing-indexes', { projectId });
  const [{ data: usage }, { data: missing }] = [used.value, lacking.value];
  const days = stats.value.data?.days ?? [];
  const today = days.at(-1);
  const of = (numberOf: (day: Day) => number) => pointsOf(days, numberOf);
  const sum = (name: string) => days.reduce((total, day) => total + askedOf(day, [name]), 0);
  const failed = [used, stats, lacking].find((one) => one.value.problem);
  return (
    <>
      {failed && <ProblemNote problem={failed.value.problem} onRetry={failed.reload} />}
      <div class="meters">
        <Stat
          href={`${base}/usage`}
          label={t.usage.requestsToday}
          value={today?.requests}
          points={of(({ requests }) => requests)}
        />
        <Stat
          href={`${base}/usage`}
          label={t.summary.errorsToday}
          value={today && errorsOf(today)}
          points={of(errorsOf)}
        />
        <Stat
          href={`${base}/usage`}
          label={t.summary.p95}
          value={today && (today.p95 ?? '–')}
          points={of(({ p95 }) => p95 ?? 0)}
        />
        <Stat
          href={`${base}/files`}
          label={t.usage.storage}
          value={usage && bytesText(usage.storageUsed)}
          note={t.summary.uploads(sum('confirm-upload'))}
        />
        <Stat
          href={`${base}/mail/logs`}
          label={t.usage.mails}
          value={usage && `${usage.mailUsed} / ${usage.mailLimit}`}
          note={t.summary.mails}
        />
        <Stat
          href={`${base}/users`}
          label={t.nav.users}
          value={usage?.users}
          note={t.summary.signUps(sum('sign-up'))}
        />
      </div>
      <p class="muted small">{t.summary.lag}</p>
      {missing && missing.length > 0 && (
        <>
          <h2>{t.summary.slowest}</h2>
          <MissingIndexes projectId={projectId} />
        </>
      )}
    </>
  );
};
