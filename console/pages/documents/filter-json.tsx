import { useSignal } from '@preact/signals';
import type { Collection } from '../../../shared/collections/collection.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { type Part, parseWhereText, whereText } from './filter-parts.ts';

interface Props {
  readonly collection: Collection;
  readonly parts: readonly Part[];
  readonly onApply: (parts: readonly Part[]) => void;
  readonly onCancel: () => void;
}

/** Text that cannot be parsed is shown as typed, to be corrected. */
const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => ('parameter' in part && part.parameter === 'where' ? [part.text] : []))[0] ??
  whereText(parts, 2) ??
  '{}';

/** The whole filter as JSON, for conditions that the form cannot express. */
export const FilterJson = ({ collection, parts, onApply, onCancel }: Props) => {
  const typed = useSignal(textOf(parts));
  return (
    <Dialog title={t.documents.whereJson} onClose={onCancel}>
      <Form
        act={t.documents.apply}
        cancel={t.acts.cancel}
        onCancel={onCancel}
        onSubmit={async () => onApply(parseWhereText(collection, typed.peek()))}
      >
        {() => (
          <JsonEditor
            label={t.documents.whereJson}
            text={typed.value}
            onInput={(text) => {
              typed.value = text;
            }}
          />
        )}
      </Form>
    </Dialog>
  );
};
