import { useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { useEvery } from '../../api/query-every.ts';
import { isPicture, type StoredFile, thumb, useAddresses } from '../files/links.ts';

/** Pages of 100: the newest thousand files are known. */
export const maxPages = 10;

/**
 * A small picture of a file. Shows nothing if the file is not a picture, or is in the project's own bucket, from which
 * pages load no files.
 * A private one needs a request of its own for a signed link, and so `signs`, which lists leave out.
 */
export const FileThumb = ({ file, signs = false }: { readonly file: StoredFile; readonly signs?: boolean }) => {
  const { projectId = '' } = useRoute().params;
  const { data: project } = useQuery('get-project', { projectId }).value;
  const shows =
    project !== undefined && !project.storage.external && isPicture(file) && (signs || file.visibility === 'public');
  const address = useAddresses(projectId, shows ? [file] : [], thumb)(file);
  return shows && address !== undefined ? <img class="thumb" src={address} alt="" loading="lazy" /> : null;
};

/** The file whose path is the value of a field: its picture and its name, which opens it. */
export const FileLink = ({ path, signs = false }: { readonly path: string; readonly signs?: boolean }) => {
  const { projectId = '' } = useRoute().params;
  const { data } = useEvery('list-files', { projectId }, maxPages);
  const file = data?.find((one) => one.path === path);
  if (!file) return <span class="mono">{path}</span>;
  return (
    <a class="file-link" href={`/projects/${projectId}/files?open=${encodeURIComponent(path)}`}>
      <FileThumb file={file} signs={signs} /> {file.name}
    </a>
  );
};
