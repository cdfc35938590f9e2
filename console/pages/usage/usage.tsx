import { examples } from 'basalt:api';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { numberText } from '../../text/number.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { bytesText } from '../../ui/bytes.tsx';
import { Chart, Meter } from '../../ui/chart.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type Day, errorsOf, pointsOf } from './days.ts';
import { MissingIndexes } from './missing-indexes.tsx';

type Route = Data<'get-request-stats'>['routes'][number];

/** `create-document` as `POST /api/data/:collectionName`; other names are as they are counted. */
const routeText = (id: string): string => {
  const found = examples.find((example) => example.id === id);
  return found ? `${found.method} ${found.path.replaceAll(/\{(\w+)\}/g, ':$1')}` : id;
};

const routeColumns: readonly Column<Route>[] = [
  { key: 'route', label: t.usage.route, cell: ({ route }) => <span class="mono">{routeText(route)}</span> },
  { key: 'requests', label: t.usage.requests, number: true, cell: ({ requests }) => numberText(requests) },
  {
    key: 'statuses',
    label: t.usage.statuses,
    cell: ({ statuses }) =>
      Object.entries(statuses)
        .map(([status, count]) => `${status}: ${numberText(count)}`)
        .join(' · '),
  },
  { key: 'p50', label: 'p50, ms', number: true, cell: ({ p50 }) => p50 ?? '–' },
  { key: 'p95', label: 'p95, ms', number: true, cell: ({ p95 }) => p95 ?? '–' },
];

const Limits = ({ projectId }: { readonly projectId: string }) => {
  const found = useQuery('get-usage', { projectId });
  const { data, problem } = found.value;
  if (problem) return <ProblemNote problem={problem} onRetry={found.reload} />;
  if (!data) return null;
  return (
    <div class="meters">
      <Meter label={t.usage.database} used={data.databaseUsed} limit={data.databaseLimit} text={bytesText} />
      <Meter label={t.usage.storage} used={data.storageUsed} limit={data.storageLimit} text={bytesText} />
      <Meter label={t.usage.imageSizes} used={data.imageSizesUsed} limit={data.imageSizesLimit} text={bytesText} />
      <Meter label={t.usage.mails} used={data.mailUsed} limit={data.mailLimit} text={numberText} />
      <Meter label={t.nav.users} used={data.users} limit={data.usersLimit} text={numberText} />
      <Meter label={t.usage.collections} used={data.collections} limit={data.collectionsLimit} text={numberText} />
      <Meter label={t.usage.requestsToday} used={data.requestsToday} limit={null} text={numberText} />
    </div>
  );
};

/** The requests of 30 days. Each day links to its details. */
const Days = ({ days, present }: { readonly days: readonly Day[]; readonly present: string }) => {
  const { path, query } = useLocation();
  const barsOf = (numberOf: (day: Day) => number) =>
    pointsOf(days, numberOf).map((point) => ({
      ...point,
      href: addressWith(path, query, { day: point.label }),
      present: point.label === present,
    }));
  return (
    <div class="charts">
      <Chart label={t.usage.requests} bars={barsOf(({ requests }) => requests)} />
      <Chart label={t.summary.errors} bars={barsOf(errorsOf)} />
      <Chart label={t.usage.p95} bars={barsOf(({ p95 }) => p95 ?? 0)} />
    </div>
  );
};

const dayMs = 86_400_000;

/** The last 30 days, whichever of them is open. */
const useDays = (projectId: string, day: string | undefined) => {
  const last = useQuery('get-request-stats', { projectId, query: { days: 30 } });
  const chosen = useQuery('get-request-stats', { projectId, query: day ? { day } : { days: 30 } });
  const { data, problem } = chosen.value;
  const reload = () => {
    last.reload();
    chosen.reload();
  };
  return { days: last.value.data?.days ?? [], data, problem: problem ?? last.value.problem, reload };
};

/** The plan's limits, requests by day and route, and missing indexes. */
export const Usage = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const { days, data, problem, reload } = useDays(projectId, query.day);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Page title={t.nav.usage}>
      <div class="stack">
        <Limits projectId={projectId} />
        <h2>{t.usage.requests}</h2>
        {days.length > 0 && <Days days={days} present={data?.day ?? today} />}
        <div class="row">
          <Field
            label={t.usage.day}
            type="date"
            min={new Date(Date.now() - 31 * dayMs).toISOString().slice(0, 10)}
            max={today}
            value={query.day ?? data?.day ?? ''}
            onInput={(event) => {
              if (event.currentTarget.validity.valid)
                route(addressWith(path, query, { day: event.currentTarget.value }), true);
            }}
          />
        </div>
        {problem && <ProblemNote problem={problem} onRetry={reload} />}
        {data?.routes.length === 0 ? (
          <Empty text={t.usage.noRequests} />
        ) : (
          (data || !problem) && (
            <Table
              label={t.usage.requests}
              columns={routeColumns}
              items={data?.routes}
              keyOf={({ route: name }) => name}
            />
          )
        )}
        <h2 id="missing">{t.usage.missing}</h2>
        <MissingIndexes projectId={projectId} />
        <p>
          <a href={`/projects/${projectId}/requests`}>{t.requests.rejected}</a>
        </p>
      </div>
    </Page>
  );
};
