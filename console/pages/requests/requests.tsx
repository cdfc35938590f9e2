import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Field } from '../../ui/field.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { errorsOf } from '../usage/days.ts';
import { RequestPanel } from './request-panel.tsx';
import type { Rejected } from './what-to-change.ts';

const dayMs = 86_400_000;
const keptDays = 7;

/** The requests of a day by hour. Each hour shows the rejected ones since then. */
const Hours = ({ projectId, day }: { readonly projectId: string; readonly day: string }) => {
  const { path, query } = useLocation();
  const found = useQuery('get-request-stats', { projectId, query: { day, hours: true } });
  const { data, problem } = found.value;
  if (problem) return <ProblemNote problem={problem} onRetry={found.reload} />;
  return (
    <Chart
      wide
      label={t.requests.byHour}
      bars={(data?.hours ?? []).map(({ hour, requests, statuses }) => {
        const label = `${String(hour).padStart(2, '0')}:00`;
        const since = `${day}T${label}:00Z`;
        return {
          label,
          value: requests,
          errors: errorsOf({ statuses }),
          href: addressWith(path, query, { since, page: undefined }),
          present: query.since === since,
        };
      })}
    />
  );
};

const filters = ['code', 'route', 'user', 'since'] as const;

/** The conditions of the list. Each is applied when the reader leaves its field or presses Enter. */
const Filters = () => {
  const { path, query, route } = useLocation();
  const go = (changes: Readonly<Record<string, string | undefined>>) =>
    route(addressWith(path, query, { ...changes, page: undefined }), true);
  const isFiltered = filters.some((name) => query[name] !== undefined);
  return (
    <div class="row filters">
      {filters.map((name) => (
        <Field
          key={`${name} ${query[name] ?? ''}`}
          label={t.requests.filters[name]}
          value={query[name] ?? ''}
          placeholder={t.requests.examples[name]}
          onChange={({ currentTarget: { value } }) => {
            const text = value.trim();
            go({ [name]: (name === 'code' ? text.toUpperCase() : text) || undefined });
          }}
        />
      ))}
      {isFiltered && (
        <a href={addressWith(path, query, Object.fromEntries([...filters, 'page'].map((name) => [name, undefined])))}>
          {t.requests.all}
        </a>
      )}
    </div>
  );
};

/** Rejected requests of the project's apps, beside all requests by hour. */
export const Requests = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const today = new Date().toISOString().slice(0, 10);
  const day = query.day ?? today;
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const { code, route: at, user, since, open } = query;
  const input = { projectId, query: { code, route: at, user, since } };
  const { data } = useListPage('list-refusals', input).list.value;
  const hrefOf = (requestId: string | undefined) => addressWith(path, query, { open: requestId });
  const columns: readonly Column<Rejected>[] = [
    { key: 'at', label: t.audit.at, cell: (one) => <Time at={one.at} /> },
    {
      key: 'code',
      label: t.requests.response,
      cell: (one) => (
        <a class="mono" href={hrefOf(one.requestId)}>
          {one.status} {one.code}
        </a>
      ),
    },
    { key: 'route', label: t.usage.route, cell: (one) => <span class="mono">{one.route}</span> },
    { key: 'message', label: t.requests.message, cell: ({ message }) => message },
    {
      key: 'who',
      label: t.requests.caller,
      cell: ({ key, userId, address }) => (
        <>
          <Badge>{key}</Badge> <span class="mono">{userId ?? address}</span>
        </>
      ),
    },
  ];
  if (problem && !project)
    return (
      <Page title={t.nav.requests}>
        <ProblemNote problem={problem} onRetry={found.reload} />
      </Page>
    );
  return (
    <Page title={t.nav.requests}>
      <div class="stack">
        <div class="stack list-head">
          <div class="row">
            <Field
              label={t.usage.day}
              type="date"
              min={new Date(Date.now() - keptDays * dayMs).toISOString().slice(0, 10)}
              max={today}
              value={day}
              onInput={({ currentTarget: { value, validity } }) => {
                if (validity.valid && value) route(addressWith(path, query, { day: value, since: undefined }), true);
              }}
            />
          </div>
          <Hours projectId={projectId} day={day} />
          <h2>{t.requests.rejected}</h2>
          <Filters />
        </div>
        <div class={open ? 'halves' : undefined}>
          <List
            row="list-refusals"
            input={input}
            label={t.requests.rejected}
            columns={open ? columns.slice(0, 3) : columns}
            keyOf={({ _id }) => _id}
            empty={filters.some((name) => query[name]) ? t.requests.noneFit : t.requests.none}
            icon="requests"
            selected={data?.items.find(({ requestId }) => requestId === open)?._id}
            onOpen={({ requestId }) => route(hrefOf(requestId))}
          />
          {open && project && (
            <RequestPanel key={open} project={project} requestId={open} onClose={() => route(hrefOf(undefined))} />
          )}
        </div>
        {data && data.notKept > 0 && <p class="muted small">{t.requests.notKept(data.notKept)}</p>}
      </div>
    </Page>
  );
};
