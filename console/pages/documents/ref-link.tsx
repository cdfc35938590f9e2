import { useRoute } from 'preact-iso/router';
import { t } from '../../text/words.ts';
import { idIn, nameOf, refAddress } from './ref-address.ts';

/** A link to a referenced document; none if the text is not an id. */
export const RefLink = ({ collectionName, id: text }: { readonly collectionName: string; readonly id: string }) => {
  const { projectId = '' } = useRoute().params;
  const id = idIn(text);
  return id === undefined ? null : (
    <a class="small" href={refAddress(projectId, collectionName, id)}>
      {t.documents.openRef(collectionName)}
    </a>
  );
};

/** A reference in one line, as a link to its document. A populated one is shown by name. */
export const RefCell = ({ collectionName, value }: { readonly collectionName: string; readonly value: unknown }) => {
  const { projectId = '' } = useRoute().params;
  const id = idIn(value);
  if (id === undefined) return null;
  return (
    <a href={refAddress(projectId, collectionName, id)}>
      {typeof value === 'object' && value !== null ? nameOf(value) : <span class="mono">{id}</span>}
    </a>
  );
};
