import { useQuery } from '../../api/query.ts';
import { numberText } from '../../text/number.ts';
import { t } from '../../text/words.ts';
import { bytesText } from '../../ui/bytes.tsx';
import { Chart } from '../../ui/chart.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { askedOf, errorsOf } from '../usage/days.ts';
import { MissingIndexes } from '../usage/missing-indexes.tsx';
import { Latest, latestRejected, latestUsers } from './latest.tsx';

const Stat = ({
  href,
  label,
  value,
  tone,
  note,
}: {
  readonly href: string;
  readonly label: string;
  /** Absent until known. */
  readonly value: string | undefined;
  /** A number that is fine, or one to look at. */
  readonly tone?: 'quiet' | 'danger' | undefined;
  readonly note?: string;
}) => (
  <a class="stat" href={href} data-tone={tone}>
    <span class="muted small">{label}</span>
    <strong>{value ?? '…'}</strong>
    {note && <span class="muted small">{note}</span>}
  </a>
);

/** The tone of a number of errors. */
const toneOf = (errors: number | undefined): 'quiet' | 'danger' | undefined =>
  errors === undefined ? undefined : errors === 0 ? 'quiet' : 'danger';

/** A project without the collection `users` has no sign-ups. That is no failure of this page. */
const isExpected = (code: string | undefined): boolean => code === undefined || code === 'COLLECTION_NOT_FOUND';

/** Today's numbers of a project, the requests of 30 days, and what came last. */
export const Summary = ({ projectId }: { readonly projectId: string }) => {
  const base = `/projects/${projectId}`;
  const used = useQuery('get-usage', { projectId });
  const stats = useQuery('get-request-stats', { projectId, query: { days: 30 } });
  const lacking = useQuery('list-missing-indexes', { projectId });
  const rejected = useQuery('list-refusals', latestRejected(projectId));
  const users = useQuery('list-users', latestUsers(projectId));
  const [{ data: usage }, { data: missing }] = [used.value, lacking.value];
  const days = stats.value.data?.days ?? [];
  const today = days.at(-1);
  const errors = today && errorsOf(today);
  const sum = (name: string) => days.reduce((total, day) => total + askedOf(day, [name]), 0);
  const failed = [used, stats, lacking, rejected, users].find((one) => !isExpected(one.value.problem?.code));
  return (
    <>
      {failed && <ProblemNote problem={failed.value.problem} onRetry={failed.reload} />}
      <div class="stats">
        <Stat href={`${base}/requests`} label={t.usage.requestsToday} value={today && numberText(today.requests)} />
        <Stat
          href={`${base}/requests`}
          label={t.summary.errorsToday}
          value={errors === undefined ? undefined : numberText(errors)}
          tone={toneOf(errors)}
        />
        <Stat href={`${base}/usage`} label={t.summary.p95} value={today && (today.p95?.toString() ?? '–')} />
        <Stat
          href={`${base}/files`}
          label={t.usage.storage}
          value={usage && bytesText(usage.storageUsed)}
          note={t.summary.uploads(sum('confirm-upload'))}
        />
        <Stat
          href={`${base}/mail/logs`}
          label={t.usage.mails}
          value={usage && `${numberText(usage.mailUsed)} / ${numberText(usage.mailLimit)}`}
          note={t.summary.mails}
        />
        <Stat
          href={`${base}/users`}
          label={t.nav.users}
          value={usage && numberText(usage.users)}
          note={t.summary.signUps(sum('sign-up'))}
        />
      </div>
      <div class="card">
        <Chart
          wide
          label={t.summary.days}
          bars={days.map((day) => ({
            label: day.day,
            value: day.requests,
            errors: errorsOf(day),
            href: `${base}/usage?day=${day.day}`,
            present: day === today,
          }))}
        />
      </div>
      <p class="muted small">{t.summary.lag}</p>
      <Latest projectId={projectId} />
      {missing && missing.length > 0 && (
        <>
          <h2>{t.summary.slowest}</h2>
          <MissingIndexes projectId={projectId} />
        </>
      )}
    </>
  );
};
