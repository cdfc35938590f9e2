import { schema as words } from '../../text/schema.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { FromFile, useReadFile } from './from-file.tsx';
import type { FieldDraft } from './schema-draft.ts';

/** Adds the fields of a file to a schema. The documents are imported on another page. */
export const FileDialog = ({
  onAdd,
  onClose,
}: {
  readonly onAdd: (fields: readonly FieldDraft[]) => void;
  readonly onClose: () => void;
}) => {
  const read = useReadFile();
  const add = async () => {
    const table = read.table.value;
    if (!table) throw new Error(words.file.none);
    const { fieldsFor } = await import('./guess-fields.ts');
    onAdd(fieldsFor(table, read.columns.value));
    onClose();
  };
  return (
    <Dialog wide title={words.file.title} onClose={onClose}>
      <Form act={words.file.use} cancel={t.acts.cancel} onCancel={onClose} onSubmit={add}>
        {() => <FromFile read={read} />}
      </Form>
    </Dialog>
  );
};
