import { useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { t } from '../../text/words.ts';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { FirstSteps } from './first-steps.tsx';

/** What is going on in a project; of a new one, how to begin. */
export const Overview = () => {
  const { projectId = '' } = useRoute().params;
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  return (
    <Page title={project?.name ?? '…'} back={{ href: '/', label: t.nav.projects }}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      {project && <FirstSteps project={project} />}
    </Page>
  );
};
