import { useMemo, useRef } from 'preact/hooks';
import { files } from '../../text/files.ts';
import { Bytes } from '../../ui/bytes.tsx';
import { Icon } from '../../ui/icon.tsx';
import { moveRow } from '../../ui/move-row.ts';
import { isId } from '../../ui/places.ts';
import { type Shortcuts, useShortcuts } from '../../ui/shortcuts.ts';
import { Tick } from '../../ui/tick.tsx';
import type { Folder } from './folders.ts';
import { isPicture, type StoredFile, tileSize, useAddresses } from './links.ts';
import { Visibility } from './visibility.tsx';

export interface FilesProps {
  readonly projectId: string;
  readonly items: readonly StoredFile[];
  /** True if the page may load pictures from the origin of the files. */
  readonly shows: boolean;
  readonly hrefOf: (path: string) => string;
  readonly selected: string | undefined;
  readonly ticked: ReadonlySet<string>;
  /** Absent if the developer may not change files. */
  readonly onTick: ((keys: ReadonlySet<string>) => void) | undefined;
}

const maxEnding = 5;

/** The ending of a name, such as `PDF`. */
const endingOf = (name: string): string => {
  const ending = name.split('.').at(-1) ?? '';
  return ending === name || ending.length > maxEnding ? '' : ending.toUpperCase();
};

/** Folders as tiles; nothing if there are none. */
export const FolderTiles = ({
  folders,
  hrefOf,
}: {
  readonly folders: readonly Folder[];
  readonly hrefOf: (path: string) => string;
}) =>
  folders.length === 0 ? null : (
    <ul class="cards tiles" aria-label={files.folders}>
      {folders.map(({ path, name, count, bytes }) => (
        <li key={path} class="stat">
          <Icon name="files" />
          <div>
            <a class={isId(name) ? 'card-link mono' : 'card-link'} href={hrefOf(path)}>
              {name}
            </a>
            <p class="small muted">
              {files.count(count)} · <Bytes of={bytes} />
            </p>
          </div>
        </li>
      ))}
    </ul>
  );

/** Files as tiles, with thumbnails of images. `j` and `k` move between them, as in a table. */
export const FileGrid = ({ projectId, items, shows, hrefOf, selected, ticked, onTick }: FilesProps) => {
  const list = useRef<HTMLUListElement>(null);
  const shortcuts = useMemo<Shortcuts>(
    () => ({ next: () => moveRow(list.current, 1), before: () => moveRow(list.current, -1) }),
    [],
  );
  useShortcuts(shortcuts);
  const pictures = shows ? items.filter(isPicture) : [];
  const addressOf = useAddresses(projectId, pictures, tileSize);
  return (
    <ul ref={list} class="cards tiles files" aria-label={files.title}>
      {items.map((file) => {
        const address = pictures.includes(file) ? addressOf(file) : undefined;
        return (
          <li key={file.path} class="stat" aria-current={selected === file.path ? 'true' : undefined}>
            <span class="tile-image mono muted" aria-hidden="true">
              {address === undefined ? endingOf(file.name) : <img src={address} alt="" loading="lazy" />}
            </span>
            <a class="card-link" href={hrefOf(file.path)} title={file.name}>
              {file.name}
            </a>
            <span class="small muted row">
              <Bytes of={file.size} /> <Visibility file={file} />
            </span>
            {onTick && <Tick keyed={file.path} ticked={ticked} onTick={onTick} />}
          </li>
        );
      })}
    </ul>
  );
};
