import { examples } from 'basalt:api';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { callOf } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { SafeLink } from '../../ui/safe-link.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { ApiCall } from './api-call.tsx';
import { isLanguage, type Language, languages } from './code.ts';

const dashboardDescription = (): string => location.origin + callOf('get-dashboard-openapi', {}).path;

/** Every route of the public API in the project's own names, in three languages, and to be called in place. */
export const Api = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const collections = useQuery('list-collections', { projectId, query: { limit: 100 } }).value;
  const language: Language = isLanguage(query.in) ? query.in : 'curl';
  const collectionName = collections.data?.items.find(({ name }) => name !== 'users')?.name ?? 'notes';
  const names = { api: service().api, collectionName, publishableKey: project?.publishableKey ?? '' };
  // A call that is opened keeps the name that it began with.
  const isNamed = collections.data !== undefined || collections.problem !== undefined;
  const toggle = (id: string, open: boolean) => {
    if (open !== (query.open === id)) route(addressWith(path, query, { open: open ? id : undefined }), true);
  };
  const areas = [...new Set(examples.map(({ area }) => area))];
  return (
    <Page title={t.nav.api}>
      <p class="muted">
        {t.api.intro} {t.api.descriptions} <SafeLink href={`${names.api}/api/openapi.json`}>{t.api.publicApi}</SafeLink>
        {' · '}
        <SafeLink href={dashboardDescription()}>{t.api.dashboardApi}</SafeLink>
      </p>
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
          areas.map((area) => (
            <section key={area} class="stack">
              <h2>{area}</h2>
              {examples
                .filter((example) => example.area === area)
                .map((example) => (
                  <ApiCall
                    key={example.id}
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
    </Page>
  );
};
