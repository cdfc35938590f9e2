import { useRoute } from 'preact-iso/router';
import { t } from '../../text/words.ts';

/** The way to the document that an id refers to; none for what is no id. */
export const RefLink = ({ collectionName, id }: { readonly collectionName: string; readonly id: string }) => {
  const { projectId = '' } = useRoute().params;
  return /^[0-9a-f]{24}$/i.test(id) ? (
    <a class="small" href={`/projects/${projectId}/documents/${encodeURIComponent(collectionName)}?open=${id}`}>
      {t.documents.openRef(collectionName)}
    </a>
  ) : null;
};
