import { useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Summary } from './summary.tsx';

type Collections = Data<'list-collections'>['items'];

/** A count of `null`, from a customer's database that does not answer, does not mean a new project. */
const hasDocuments = (collections: Collections): boolean =>
  collections.some(({ name, documents }) => name !== 'users' && documents !== 0);

/** The overview of a project; of a new one, its first steps. The steps stay after the first document has arrived. */
export const Overview = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query } = useLocation();
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const listed = useQuery('list-collections', { projectId, query: { limit: 100 } });
  const { data: collections, problem: noList } = listed.value;
  const isNew = useRef<readonly [projectId: string, isNew: boolean] | undefined>(undefined);
  if (collections && isNew.current?.[0] !== projectId) {
    isNew.current = [projectId, !hasDocuments(collections.items)];
  }
  const [, begins] = isNew.current ?? [];
  const isFirst = begins === true || query.show === 'first-steps';
  return (
    <Page title={project?.name ?? (problem ? t.nav.overview : '…')} back={{ href: '/', label: t.nav.projects }}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {!problem && !collections && noList && <ProblemNote problem={noList} onRetry={listed.reload} />}
      <Waiting of={noList ? found.value : listed.value} />
      {project && isFirst && <FirstSteps project={project} />}
      {project && begins === false && !isFirst && (
        <div class="stack">
          <Summary projectId={projectId} />
          <p>
            <a href={addressWith(path, query, { show: 'first-steps' })}>{t.firstSteps.title}</a>
          </p>
        </div>
      )}
    </Page>
  );
};
