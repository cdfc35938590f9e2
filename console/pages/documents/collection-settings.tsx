import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRoute } from 'preact-iso/router';
import type { Collection } from '../../../shared/collections/collection.ts';
import { usersCollection } from '../../../shared/collections/names.ts';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import type { Data } from '../../api/rows.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { CollectionPage, type CollectionPart } from './collection-page.tsx';
import { collectionOf } from './shown-fields.ts';

export interface CollectionSettingsProps {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
  /** All collections of the project. */
  readonly known: readonly Collection[];
  /** The service's hints when the settings were saved. */
  readonly hints: readonly string[];
  readonly onSaved: (hints: readonly string[]) => void;
}

/** A page with the settings of a collection. `users` has only a text. */
export const CollectionSettings = ({
  part,
  users,
  children,
}: {
  readonly part: CollectionPart;
  readonly users: string;
  readonly children: (props: CollectionSettingsProps) => ComponentChildren;
}) => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const found = useQuery('get-collection', { projectId, collectionName });
  const known = useEvery('list-collections', { projectId }).data ?? [];
  const hints = useSignal<readonly string[]>([]);
  const { data: collection, problem } = found.value;
  const onSaved = (said: readonly string[]): void => {
    hints.value = said;
  };
  return (
    <CollectionPage part={part}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {collection && collectionName === usersCollection && <p class="measure">{users}</p>}
      {collection &&
        collectionName !== usersCollection &&
        children({ projectId, collection, known: known.map(collectionOf), hints: hints.value, onSaved })}
    </CollectionPage>
  );
};
