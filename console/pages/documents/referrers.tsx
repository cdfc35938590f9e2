import { useRoute } from 'preact-iso/router';
import type { ValueType } from '../../../shared/collections/collection.ts';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { numberText } from '../../text/number.ts';
import { rows } from '../../text/rows.ts';

interface Referring {
  readonly collectionName: string;
  readonly path: string;
}

/** Each count is a request. */
const mostShown = 20;

/** The paths below a type whose ids are those of a collection. */
const pathsTo = (name: string, type: ValueType, path: string): readonly string[] => {
  if (type.ref === name) return [path];
  if (type.type === 'Array' && type.items) return pathsTo(name, type.items, path);
  return (type.fields ?? []).flatMap((field) => pathsTo(name, field, `${path}.${field.key}`));
};

const Count = ({
  projectId,
  collectionName,
  path,
  id,
}: Referring & { readonly projectId: string; readonly id: string }) => {
  const where = JSON.stringify({ [path]: id });
  const { data } = useQuery('list-project-documents', {
    projectId,
    collectionName,
    query: { where, count: true },
  }).value;
  const count = data && 'count' in data ? data.count : undefined;
  const href = `/projects/${projectId}/documents/${encodeURIComponent(collectionName)}?where=${encodeURIComponent(where)}`;
  return (
    <li>
      <a href={href}>
        {collectionName} · <span class="mono">{path}</span>
      </a>{' '}
      <span class="muted">{count === undefined ? '…' : numberText(count)}</span>
    </li>
  );
};

/** How many documents refer to this one, by collection and field, as links to their lists. */
export const Referrers = ({ collectionName, id }: { readonly collectionName: string; readonly id: string }) => {
  const { projectId = '' } = useRoute().params;
  const collections = useEvery('list-collections', { projectId }).data ?? [];
  const found = collections
    .flatMap(({ name, schema }) =>
      ((schema ?? []) as readonly (ValueType & { readonly key: string })[]).flatMap((field) =>
        pathsTo(collectionName, field, field.key).map((path): Referring => ({ collectionName: name, path })),
      ),
    )
    .slice(0, mostShown);
  if (found.length === 0) return null;
  return (
    <section class="stack" aria-label={rows.refs.title}>
      <h3>{rows.refs.title}</h3>
      <ul class="plain-list">
        {found.map((one) => (
          <Count key={`${one.collectionName} ${one.path}`} {...{ projectId, id }} {...one} />
        ))}
      </ul>
    </section>
  );
};
