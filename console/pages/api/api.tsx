import { examples } from 'basalt:api';
import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { callOf, type Data } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Field } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { SafeLink } from '../../ui/safe-link.tsx';
import { Select } from '../../ui/select.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { ApiCall, Method } from './api-call.tsx';
import type { SampledCollection } from './sample.ts';

const dashboardDescription = (): string => location.origin + callOf('get-dashboard-openapi', {}).path;

/** Shown beside the list until a route is chosen. */
const firstShown = 'list-documents';

const areas = [...new Set(examples.map(({ area }) => area))];

/** Used for a project without collections. */
const noCollection: SampledCollection = {
  name: 'notes',
  schema: null,
  rls: { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' },
  newest: undefined,
};

interface CallsProps {
  readonly project: Data<'get-project'>;
  readonly collection: SampledCollection;
  readonly filePath: string | undefined;
}

/** The routes by area, and the search. */
const Routes = ({ open }: { readonly open: string }) => {
  const { path, query } = useLocation();
  const typed = useSignal('');
  const words = typed.value.toLowerCase().split(/\s+/);
  const found = examples.filter((example) => {
    const text = `${example.method} ${example.path} ${example.summary} ${example.area}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <div class="api-side stack">
      <Field
        label={t.api.find}
        type="search"
        value={typed.value}
        onInput={({ currentTarget: { value } }) => {
          typed.value = value;
        }}
      />
      {found.length === 0 && <p class="muted">{t.api.noneFound}</p>}
      <nav aria-label={t.api.areas}>
        {areas
          .map((area) => [area, found.filter((example) => example.area === area)] as const)
          .filter(([, inArea]) => inArea.length > 0)
          .map(([area, inArea]) => (
            <section key={area}>
              <h2 class="side-label">{t.api.area[area] ?? area}</h2>
              <ul>
                {inArea.map(({ id, method, summary, path: at }) => (
                  <li key={id}>
                    <a
                      href={addressWith(path, query, { open: id })}
                      title={`${method} ${at}`}
                      aria-current={id === open ? 'page' : undefined}
                    >
                      <Method method={method} />
                      <span>{summary}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
      </nav>
    </div>
  );
};

/** Every route at the left, with the open one at the right. A phone shows either of them. */
const Calls = ({ project, collection, filePath }: CallsProps) => {
  const { query } = useLocation();
  const names = {
    api: service().api,
    publishableKey: project.publishableKey,
    projectId: project._id,
    collection,
    filePath,
    userUploads: project.uploads.users,
  };
  const open = examples.find(({ id }) => id === query.open) ?? examples.find(({ id }) => id === firstShown);
  return (
    <div class="api" data-open={query.open === undefined ? undefined : ''}>
      <Routes open={open?.id ?? ''} />
      {open && <ApiCall key={`${open.id} ${collection.name}`} example={open} names={names} project={project} />}
    </div>
  );
};

/** The same, with the newest document of the collection if there is one. */
const SampledCalls = ({ collection, ...props }: CallsProps) => {
  const place = { projectId: props.project._id, collectionName: collection.name };
  const { data, problem } = useQuery('list-project-documents', { ...place, query: { limit: 1 } }).value;
  // An open call keeps the document that it started with.
  if (!data && !problem) return <Waiting of={{ loading: true }} />;
  const newest = data && 'items' in data ? data.items[0] : undefined;
  return <Calls {...props} collection={{ ...collection, newest }} />;
};

/** Every route of the public API in the project's own names, in three languages, with a form to call it. */
export const Api = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const collections = useEvery('list-collections', { projectId });
  const files = useQuery('list-files', { projectId, query: { limit: 1 } }).value;
  const choices = collections.data?.filter(({ name }) => name !== 'users') ?? [];
  const chosen = choices.find(({ name }) => name === query.collection) ?? choices[0];
  // An open call keeps the name that it started with.
  const isNamed = [collections, files].every((one) => one.data !== undefined || one.problem !== undefined);
  const filePath = files.data?.items[0]?.path;
  return (
    <Page title={t.nav.api}>
      <div class="stack">
        <p class="muted">
          {t.api.intro} {t.api.descriptions}{' '}
          <SafeLink href={`${service().api}/api/openapi.json`}>{t.api.publicApi}</SafeLink>
          {' · '}
          <SafeLink href={dashboardDescription()}>{t.api.dashboardApi}</SafeLink>
        </p>
        {chosen && (
          <div class="measure">
            <Select
              label={t.api.collection}
              value={chosen.name}
              options={choices.map(({ name }) => [name, name])}
              onInput={({ currentTarget }) =>
                route(addressWith(path, query, { collection: currentTarget.value }), true)
              }
            />
          </div>
        )}
      </div>
      <div class="stack">
        {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
        <Waiting of={isNamed ? found.value : collections} />
        {project &&
          isNamed &&
          (chosen ? (
            <SampledCalls
              key={chosen.name}
              project={project}
              collection={{ ...chosen, newest: undefined }}
              filePath={filePath}
            />
          ) : (
            <Calls project={project} collection={noCollection} filePath={filePath} />
          ))}
      </div>
    </Page>
  );
};
