import type { ComponentChildren } from 'preact';
import { useTitle } from './use-title.ts';

interface Props {
  readonly title: string;
  readonly back?: { readonly href: string; readonly label: string };
  readonly acts?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen: title, actions, and a link back. */
export const Page = ({ title, back, acts, children }: Props) => {
  useTitle(title);
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
