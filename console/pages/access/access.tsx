import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { access } from '../../text/access.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { CollectionPage } from '../documents/collection-page.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { AccessForm } from './access-form.tsx';
import { TryRules } from './try-rules.tsx';

export const Access = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const found = useQuery('get-collection', { projectId, collectionName });
  const known = useEvery('list-collections', { projectId }).data ?? [];
  const hints = useSignal<readonly string[]>([]);
  const { data: collection, problem } = found.value;
  return (
    <CollectionPage part="access">
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {collection && collectionName === 'users' && <p class="measure">{access.users}</p>}
      {collection && collectionName !== 'users' && (
        <div class="stack">
          <p>{access.server}</p>
          <div class="card access">
            <AccessForm
              key={collectionName}
              projectId={projectId}
              collection={collection}
              known={known.map(collectionOf)}
              hints={hints.value}
              onSaved={(said) => {
                hints.value = said;
              }}
            />
          </div>
          <TryRules
            key={`try ${collectionName}`}
            projectId={projectId}
            collection={collectionOf(collection)}
            known={known.map(collectionOf)}
          />
        </div>
      )}
    </CollectionPage>
  );
};
