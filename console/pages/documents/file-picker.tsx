import { useRoute } from 'preact-iso/router';
import { useEvery } from '../../api/query-every.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { bytesText } from '../../ui/bytes.tsx';
import { Choose } from '../../ui/choose.tsx';
import { Combobox, useTyped } from '../../ui/combobox.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';

const mostShown = 10;

/** Pages of 100: the newest thousand files are searched. */
const maxPages = 10;

/** Names of fields that usually hold the path of a file. */
const fileNames =
  /(?:file|image|photo|picture|avatar|attachment|logo|cover|thumbnail|video|audio|pdf)s?(?:path|url)?$/i;

/** A text is the path of a file of a project: an owner, a random id, and the name. */
const filePath = /^[^/]+\/[0-9a-f-]{36}_/;

/** True if a field holds the path of a file, by its value or its name. */
export const holdsFile = (key: string, text: string): boolean =>
  text === '' ? fileNames.test(key) : filePath.test(text);

const Choosing = ({ onChoose }: { readonly onChoose: (path: string) => void }) => {
  const { projectId = '' } = useRoute().params;
  const { typed, settled } = useTyped();
  const { data, problem } = useEvery('list-files', { projectId }, maxPages);
  const words = settled.value.toLowerCase();
  const found = data
    ?.filter(({ path }) => path.toLowerCase().includes(words))
    .slice(0, mostShown)
    .map(({ path, name, size }) => ({
      path,
      label: name,
      note: <span class="muted">{bytesText(size)}</span>,
    }));
  return (
    <>
      <Combobox
        label={rows.fields.chooseFile}
        hint={rows.fields.fileHint}
        typed={typed}
        found={found}
        onChoose={({ path }) => onChoose(path)}
      />
      {problem && <ProblemNote problem={problem} />}
    </>
  );
};

/** Chooses a file of the project, whose path becomes the value. */
export const FilePicker = ({ onChoose }: { readonly onChoose: (path: string) => void }) => (
  <Choose kind="plain" title={rows.fields.chooseFile} act={t.documents.choose} onChoose={onChoose}>
    {(choose) => <Choosing onChoose={choose} />}
  </Choose>
);
