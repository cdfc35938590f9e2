import { useQuery } from '../../api/query.ts';
import { files } from '../../text/files.ts';
import { userName } from '../users/user-name.ts';
import { ofUsers } from './folders.ts';

interface Props {
  readonly projectId: string;
  readonly at: readonly string[];
  readonly hrefOf: (folder: string | undefined) => string;
}

const UserLink = ({ projectId, id }: { readonly projectId: string; readonly id: string }) => {
  const { data } = useQuery('get-user', { projectId, id }).value;
  return <a href={`/projects/${projectId}/users?open=${id}`}>{files.openUser(data ? userName(data) : id)}</a>;
};

/** Where the reader is among the folders, and a link to the user or document that the folder belongs to. */
export const FolderHead = ({ projectId, at, hrefOf }: Props) => {
  const [above, id] = at;
  return (
    <div class="row">
      <nav class="row" aria-label={files.path}>
        <a href={hrefOf(undefined)}>{files.all}</a>
        {at.map((name, place) => (
          <span key={name} class="row">
            <span aria-hidden="true">/</span>
            {place === at.length - 1 ? (
              <strong aria-current="page">{name}</strong>
            ) : (
              <a href={hrefOf(at.slice(0, place + 1).join('/'))}>{name}</a>
            )}
          </span>
        ))}
      </nav>
      {id !== undefined &&
        (above === ofUsers ? (
          <UserLink key={id} projectId={projectId} id={id} />
        ) : (
          <a href={`/projects/${projectId}/documents/${above}?open=${id}`}>{files.openDocument}</a>
        ))}
    </div>
  );
};
