import { useQuery } from '../../api/query.ts';
import { transfers as texts } from '../../text/transfers.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';

interface Refusal {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

const columns: readonly Column<Refusal>[] = [
  { key: 'line', label: texts.line, number: true, cell: ({ line }) => line },
  { key: 'field', label: t.documents.field, cell: ({ field }) => <span class="mono">{field || '–'}</span> },
  { key: 'message', label: t.mail.reason, cell: ({ message }) => message },
];

/** The errors of rejected lines of an import. */
export const ImportErrors = ({
  onClose,
  ...place
}: {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
  readonly onClose: () => void;
}) => {
  const { data, problem } = useQuery('get-import', place).value;
  return (
    <Dialog title={texts.refusals} onClose={onClose}>
      {problem && <ProblemNote problem={problem} />}
      {data?.failure && <p>{data.failure}</p>}
      <Table
        label={texts.refusals}
        columns={columns}
        items={data?.errors}
        keyOf={({ line, field }) => `${line} ${field}`}
      />
    </Dialog>
  );
};
