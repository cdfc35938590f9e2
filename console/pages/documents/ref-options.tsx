import { t } from '../../text/words.ts';
import type { FieldDraft } from './schema-draft.ts';

type Options = FieldDraft['others'];

/** The options of a field without those of a reference. */
export const withoutRefOptions = ({ exists: _exists, onDelete: _onDelete, ...others }: Options): Options => others;

const actions = ['', 'restrict', 'trash', 'delete', 'unset'] as const;

/** Options of a reference: its document must exist, and what happens when that is deleted. */
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
      <select
        class="input"
        aria-label={t.schema.onDelete}
        title={t.schema.onDelete}
        value={typeof options.onDelete === 'string' ? options.onDelete : ''}
        onInput={(event) => set('onDelete', event.currentTarget.value || undefined)}
      >
        {actions.map((action) => (
          <option key={action} value={action}>
            {t.schema.deleteActions[action]}
          </option>
        ))}
      </select>
    </>
  );
};
