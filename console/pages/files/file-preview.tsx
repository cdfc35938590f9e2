import type { Item } from '../../api/rows.ts';
import { files } from '../../text/files.ts';
import { isPicture, preview, useAddresses } from './links.ts';
import { TextPreview } from './text-preview.tsx';

type StoredFile = Item<'list-files'>;

const isText = ({ contentType }: StoredFile): boolean =>
  /^(?:text\/(?:css|csv|markdown|plain)|application\/json)/.test(contentType);

/** The file origin lets browsers play these types. Everything else is a download. */
const isPlayed = ({ contentType }: StoredFile): boolean => /^(?:audio|video)\//.test(contentType);

/**
 * A safe preview of a file: pictures in a fitting size, text as text, audio and video in a sandboxed frame of the
 * file origin, whose headers disable scripts.
 */
export const FilePreview = ({ projectId, file }: { readonly projectId: string; readonly file: StoredFile }) => {
  const shows = isPicture(file) || isText(file) || isPlayed(file);
  const address = useAddresses(projectId, shows ? [file] : [], isPicture(file) ? preview : {})(file);
  if (!shows) return <p class="muted">{files.noPreview}</p>;
  if (address === undefined) return null;
  if (isPicture(file)) return <img class="picture" src={address} alt={file.name} />;
  const label = files.preview(file.name);
  if (isText(file)) return <TextPreview address={address} size={file.size} label={label} />;
  return <iframe class="preview" sandbox="" src={address} title={label} />;
};
