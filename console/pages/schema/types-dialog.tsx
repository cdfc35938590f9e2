import { useEffect, useState } from 'preact/hooks';
import type { Collection, Field } from '../../../shared/collections/collection.ts';
import { schema as words } from '../../text/schema.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import { type FieldDraft, schemaOf } from './schema-draft.ts';

/** The schema as it is edited, as TypeScript. */
export const TypesDialog = ({
  collection,
  fields,
  onClose,
}: {
  readonly collection: Collection;
  readonly fields: readonly FieldDraft[];
  readonly onClose: () => void;
}) => {
  const [text, setText] = useState<string>();
  const [wrong, setWrong] = useState<string>();
  useEffect(() => {
    // The generator of `basalt types`.
    import('../../../shared/documents/types/types-text.ts').then(
      ({ collectionText }) => {
        try {
          const schema = schemaOf(fields) as readonly Field[] | null;
          setText(collectionText({ ...collection, schema }, 'publishable'));
        } catch (error) {
          setWrong((error as Error).message);
        }
      },
      (error: Error) => setWrong(error.message),
    );
  }, [collection, fields]);
  return (
    <Dialog wide title={words.typescript} onClose={onClose}>
      <p>{words.typescriptWhy}</p>
      <div class="field">
        <Wrong text={wrong} />
      </div>
      {text === undefined ? (
        !wrong && <Waiting of={{ loading: true }} />
      ) : (
        <Snippet label={words.typescript} code={text} />
      )}
    </Dialog>
  );
};
