import { useQuery } from '../../api/query.ts';
import { schema as words } from '../../text/schema.ts';
import { t } from '../../text/words.ts';

/** Says that the plan allows no more collections. Shows nothing below the limit. */
export const PlanLimit = ({ projectId }: { readonly projectId: string }) => {
  const { data } = useQuery('get-usage', { projectId }).value;
  if (!data || data.collectionsLimit === null || data.collections < data.collectionsLimit) return null;
  return (
    <p class="note warning" role="status">
      {words.planFull(data.collections, data.collectionsLimit)}{' '}
      <a href={`/projects/${projectId}/usage`}>{t.nav.usage}</a>
    </p>
  );
};
