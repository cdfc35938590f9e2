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
import { Tabs } from '../../ui/tabs.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { ApiCall } from './api-call.tsx';
import { isLanguage, type Language, languages } from './code.ts';
import type { SampledCollection } from './sample.ts';

const dashboardDescription = (): string => location.origin + callOf('get-dashboard-openapi', {}).path;

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
  readonly language: Language;
  readonly collection: SampledCollection;
}

/** Every route, with the names and fields of one collection. */
const Calls = ({ project, language, collection }: CallsProps) => {
  const { path, query, route } = useLocation();
  const names = {
    api: service().api,
    publishableKey: project.publishableKey,
    collection,
    userUploads: project.uploads.users,
  };
  const toggle = (id: string, open: boolean) => {
    if (open !== (query.open === id)) route(addressWith(path, query, { open: open ? id : undefined }), true);
  };
  const typed = useSignal('');
  const words = typed.value.toLowerCase().split(/\s+/);
  const found = examples.filter((example) => {
    const text = `${example.method} ${example.path} ${example.summary} ${example.area}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const shownAreas = areas.filter((area) => found.some((example) => example.area === area));
  return (
    <div class="api">
      <div class="api-side stack">
        <Field
          label={t.api.find}
          type="search"
          value={typed.value}
          onInput={({ currentTarget: { value } }) => {
            typed.value = value;
          }}
        />
        <nav aria-label={t.api.areas}>
          <ul>
            {shownAreas.map((area) => (
              <li key={area}>
                <a href={`#${area}`}>{area}</a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
      <div class="stack">
        {found.length === 0 && <p class="muted">{t.api.noneFound}</p>}
        {shownAreas.map((area) => (
          <section key={area} id={area} class="stack calls">
            <h2>{area}</h2>
            {found
              .filter((example) => example.area === area)
              .map((example) => (
                <ApiCall
                  key={`${example.id} ${collection.name}`}
                  example={example}
                  language={language}
                  names={names}
                  project={project}
                  isOpen={query.open === example.id}
                  onToggle={(open) => toggle(example.id, open)}
                />
              ))}
          </section>
        ))}
      </div>
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
  const language: Language = isLanguage(query.in) ? query.in : 'curl';
  const choices = collections.data?.filter(({ name }) => name !== 'users') ?? [];
  const chosen = choices.find(({ name }) => name === query.collection) ?? choices[0];
  // An open call keeps the name that it started with.
  const isNamed = collections.data !== undefined || collections.problem !== undefined;
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
      <Tabs
        label={t.nav.api}
        present={addressWith(path, query, { in: language })}
        tabs={languages.map((one) => [addressWith(path, query, { in: one }), t.api.languages[one]])}
      />
      <div class="stack">
        {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
        <Waiting of={isNamed ? found.value : collections} />
        {project &&
          isNamed &&
          (chosen ? (
            <SampledCalls
              key={chosen.name}
              project={project}
              language={language}
              collection={{ ...chosen, newest: undefined }}
            />
          ) : (
            <Calls project={project} language={language} collection={noCollection} />
          ))}
      </div>
    </Page>
  );
};
