import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { useKept } from '../../ui/kept.ts';
import { SearchBox } from '../../ui/search-box.tsx';
import { say } from '../../ui/toast.tsx';
import { userName } from '../users/user-name.ts';
import { kinds, ofUsers } from './folders.ts';

const views = ['grid', 'list'] as const;

/** How files are shown, which this browser keeps. */
export const useView = () => useKept('files-view', (kept) => (kept === 'list' ? 'list' : 'grid'));

/** Filters of the files, which the address keeps, and how they are shown. */
export const FilesBar = ({
  query,
  onChange,
}: {
  readonly query: Readonly<Record<string, string>>;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}) => {
  const [view, keepView] = useView();
  return (
    <div class="row">
      <SearchBox label={files.search} words={query.name ?? ''} onSearch={(name) => onChange({ name })} />
      <select
        class="input short"
        aria-label={files.kind}
        value={query.kind ?? ''}
        onInput={({ currentTarget: { value } }) => onChange({ kind: value })}
      >
        <option value="">{files.kinds.all}</option>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {files.kinds[kind]}
          </option>
        ))}
      </select>
      <span class="grow" />
      <fieldset class="row choice" aria-label={files.view}>
        {views.map((one) => (
          <Button key={one} kind="plain" aria-pressed={view === one} onClick={() => keepView(one)}>
            {files.views[one]}
          </Button>
        ))}
      </fieldset>
    </div>
  );
};

interface HeadProps {
  readonly projectId: string;
  readonly at: readonly string[];
  readonly hrefOf: (folder: string | undefined) => string;
}

const UserLink = ({ projectId, id }: { readonly projectId: string; readonly id: string }) => {
  const { data } = useQuery('get-user', { projectId, id }).value;
  return <a href={`/projects/${projectId}/users?open=${id}`}>{files.openUser(data ? userName(data) : id)}</a>;
};

/** The path of the open folder, and a link to the user or document that the folder belongs to. */
export const FolderHead = ({ projectId, at, hrefOf }: HeadProps) => {
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

/** One request deletes at most so many files. */
const maxPaths = 100;

/** What can be done with the selected files. */
export const TickedFiles = ({
  projectId,
  ticked,
  onTick,
}: {
  readonly projectId: string;
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (keys: ReadonlySet<string>) => void;
}) => {
  const remove = async () => {
    const all = [...ticked];
    for (let start = 0; start < all.length; start += maxPaths)
      await request('delete-files', { projectId, body: { paths: all.slice(start, start + maxPaths) } });
    onTick(new Set());
    say(files.deletedSome(all.length));
  };
  return (
    <div class="row" role="status">
      <strong>{t.table.ticked(ticked.size)}</strong>
      <ConfirmedAct
        kind="danger"
        act={files.deleteSome(ticked.size)}
        text={files.deleteSomeText}
        name={files.count(ticked.size)}
        onConfirm={remove}
      />
      <Button kind="plain" onClick={() => onTick(new Set())}>
        {t.table.tickNone}
      </Button>
    </div>
  );
};
