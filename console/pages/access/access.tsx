import { access } from '../../text/access.ts';
import { CollectionSettings } from '../documents/collection-settings.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { AccessForm } from './access-form.tsx';
import { TryRules } from './try-rules.tsx';

export const Access = () => (
  <CollectionSettings part="access" users={access.users}>
    {(props) => (
      <div class="stack" key={props.collection.name}>
        <p>{access.server}</p>
        <div class="card access">
          <AccessForm {...props} />
        </div>
        <TryRules {...props} collection={collectionOf(props.collection)} />
      </div>
    )}
  </CollectionSettings>
);
