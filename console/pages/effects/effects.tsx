import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { effects as texts } from '../../text/effects.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { CollectionPage } from '../documents/collection-page.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { EffectsForm } from './effects-form.tsx';

/** What happens when a document of a collection is written. */
export const Effects = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const found = useQuery('get-collection', { projectId, collectionName });
  const known = useEvery('list-collections', { projectId }).data ?? [];
  const hints = useSignal<readonly string[]>([]);
  const { data: collection, problem } = found.value;
  return (
    <CollectionPage part="effects">
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {collection && collectionName === 'users' && <p class="measure">{texts.users}</p>}
      {collection && collectionName !== 'users' && (
        <EffectsForm
          key={collectionName}
          projectId={projectId}
          collection={collectionOf(collection)}
          known={known.map(collectionOf)}
          hints={hints.value}
          onSaved={(said) => {
            hints.value = said;
          }}
        />
      )}
    </CollectionPage>
  );
};
