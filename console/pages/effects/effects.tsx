import { effects as texts } from '../../text/effects.ts';
import { CollectionSettings } from '../documents/collection-settings.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { EffectsForm } from './effects-form.tsx';

/** What happens when a document of a collection is written. */
export const Effects = () => (
  <CollectionSettings part="effects" users={texts.users}>
    {(props) => <EffectsForm key={props.collection.name} {...props} collection={collectionOf(props.collection)} />}
  </CollectionSettings>
);
