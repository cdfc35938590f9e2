import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { Menu } from '../../ui/menu.tsx';
import { useColumnLayout } from './column-layout.ts';

interface Props {
  readonly place: { readonly projectId: string; readonly collectionName: string };
  readonly shown: readonly string[];
  readonly fields: readonly string[];
  /** `undefined`: the default columns. */
  readonly onChoose: (columns: readonly string[] | undefined) => void;
}

export const ColumnsMenu = ({ place, shown, fields, onChoose }: Props) => {
  const layout = useColumnLayout(place);
  const others = fields.filter((field) => !shown.includes(field));
  const toFront = (field: string, at: number) => onChoose(shown.with(at, shown[at - 1] ?? field).with(at - 1, field));
  return (
    <Menu title={t.documents.columns} label={<>{t.documents.columns} ▾</>} stays>
      {[...shown, ...others].map((field) => {
        const at = shown.indexOf(field);
        return (
          <div key={field} class="menu-line">
            <label>
              <input
                type="checkbox"
                checked={at !== -1}
                disabled={shown.length === 1 && at === 0}
                onChange={({ currentTarget: { checked } }) =>
                  onChoose(checked ? [...shown, field] : shown.filter((one) => one !== field))
                }
              />
              <span class="mono">{field}</span>
            </label>
            {at > 0 && (
              <button type="button" aria-label={t.documents.columnUp(field)} onClick={() => toFront(field, at)}>
                ↑
              </button>
            )}
          </div>
        );
      })}
      <div class="menu-line">
        <label>
          <input
            type="checkbox"
            checked={layout.frozen}
            onChange={({ currentTarget: { checked } }) => layout.setFrozen(checked)}
          />
          {rows.columns.freeze}
        </label>
      </div>
      <button type="button" onClick={() => onChoose(undefined)}>
        {t.documents.usualColumns}
      </button>
    </Menu>
  );
};
