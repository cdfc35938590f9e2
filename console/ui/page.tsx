import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../text/words.ts';

interface Props {
  readonly title: string;
  readonly back?: { readonly href: string; readonly label: string };
  readonly acts?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen: its title, its acts, and a way up. */
export const Page = ({ title, back, acts, children }: Props) => {
  useEffect(() => {
    document.title = `${title} · ${t.brand}`;
  }, [title]);
  return (
    <>
      <div class="page-head">
        <h1>
          {back && (
            <a class="way-back" href={back.href}>
              ← {back.label}
            </a>
          )}
          {title}
        </h1>
        {acts}
      </div>
      {children}
    </>
  );
};
