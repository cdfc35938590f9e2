import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';

type StoredFile = Item<'list-files'>;

export const isPicture = ({ contentType }: StoredFile): boolean =>
  /^image\/(?:png|jpeg|gif|webp|avif)$/.test(contentType);

/** What the origin of files lets a browser show; all else it hands out as a download. */
const isShown = ({ contentType }: StoredFile): boolean =>
  /^(?:text\/(?:css|csv|markdown|plain)|application\/json|audio\/|video\/)/.test(contentType);

/**
 * What is in a file, as far as a browser shows it safely: pictures, and what is text, sound or film in a sandboxed
 * frame of the files' own origin, whose headers let nothing in it run.
 */
export const FilePreview = ({ file }: { readonly file: StoredFile }) => {
  if (file.url === null) return null;
  if (isPicture(file)) return <img class="picture" src={file.url} alt={file.name} />;
  if (!isShown(file)) return <p class="muted">{t.files.noPreview}</p>;
  return <iframe class="preview" sandbox="" src={file.url} title={t.files.preview(file.name)} />;
};
