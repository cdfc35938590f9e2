import { t } from '../../text/words.ts';
import type { FieldDraft } from './schema-draft.ts';

type Options = FieldDraft['others'];

/** The options of a field without those of a reference. */
export const withoutRefOptions = ({ exists: _exists, onDelete: _onDelete, ...others }: Options): Options => others;

/** Whether the referenced document must exist, and what its deletion does. */
export const RefOptions = ({
  options,
  onChange,
}: {
  readonly options: Options;
  readonly onChange: (options: Options) => void;
}) => {
  const set = (name: 'exists' | 'onDelete', value: unknown) => onChange({ ...options, [name]: value });
  return (
    <>
      <label class="row">
        <input
          type="checkbox"
          checked={options.exists === true}
          onChange={(event) => set('exists', event.currentTarget.checked || undefined)}
        />
        {t.schema.exists}
      </label>
      <label class="row">
        <input
          type="checkbox"
          checked={options.onDelete === 'restrict'}
          onChange={(event) => set('onDelete', event.currentTarget.checked ? 'restrict' : undefined)}
        />
        {t.schema.restricts}
      </label>
    </>
  );
};
