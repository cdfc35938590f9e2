import { files } from '../../text/files.ts';
import { Button } from '../../ui/button.tsx';
import { useKept } from '../../ui/kept.ts';
import { SearchBox } from '../../ui/search-box.tsx';
import { kinds } from './folders.ts';

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
