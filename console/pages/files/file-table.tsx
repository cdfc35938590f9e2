import { useLocation } from 'preact-iso/router';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { Bytes } from '../../ui/bytes.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { FilesProps } from './file-grid.tsx';
import { isPicture, type StoredFile, thumb, useAddresses } from './links.ts';
import { Visibility } from './visibility.tsx';

const pathEnds = { start: 8, end: 28 } as const;

/** A path begins with the same project id in each row, so that its middle says the least. */
const shortPath = (path: string): string => {
  const all = Array.from(path);
  const { start, end } = pathEnds;
  return all.length <= start + end ? path : `${all.slice(0, start).join('')}…${all.slice(-end).join('')}`;
};

/** Files as rows. */
export const FileTable = ({ projectId, items, shows, hrefOf, selected, ticked, onTick }: FilesProps) => {
  const { route } = useLocation();
  const pictures = shows ? items.filter(isPicture) : [];
  const thumbOf = useAddresses(projectId, pictures, thumb);
  const columns: readonly Column<StoredFile>[] = [
    {
      key: 'picture',
      label: <span class="spoken">{files.picture}</span>,
      cell: (file) => {
        const address = pictures.includes(file) ? thumbOf(file) : undefined;
        return address === undefined ? null : <img class="thumb" src={address} alt="" loading="lazy" />;
      },
    },
    {
      key: 'name',
      label: files.name,
      cell: (file) => (
        <>
          <a href={hrefOf(file.path)}>{file.name}</a> <Visibility file={file} />
        </>
      ),
    },
    { key: 'size', label: files.size, number: true, cell: ({ size }) => <Bytes of={size} /> },
    { key: 'type', label: files.type, cell: ({ contentType }) => contentType },
    { key: 'created', label: t.users.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'path',
      label: files.path,
      cell: ({ path }) => (
        <span class="mono" title={path}>
          {shortPath(path)}
        </span>
      ),
    },
  ];
  return (
    <Table
      label={files.title}
      columns={columns}
      items={items}
      keyOf={({ path }) => path}
      selected={selected}
      onOpen={({ path }) => route(hrefOf(path))}
      {...(onTick && { ticked, onTick })}
    />
  );
};
