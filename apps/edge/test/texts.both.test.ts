/** Every language of the page is complete, and says what the page's markup and script can hold. */
import { languageFiles } from "#page-assets";
import { describe, expect, test } from "vitest";

type Plural = Readonly<Record<string, string>>;
type Tree = { readonly [key: string]: string | Plural | Tree };

const TAGS = Object.keys(languageFiles);
const CATEGORIES = ["zero", "one", "two", "few", "many", "other"];

function treeOf(tag: string): Tree {
  const { page = "{}", texts = "{}", ...rest } = languageFiles[tag] ?? {};
  return { ...(JSON.parse(texts) as Tree), page: JSON.parse(page) as Tree, ...rest };
}

const isPlural = (value: Plural | Tree): value is Plural => "other" in value;

/** `lead.near`: text. A plural is one, under its `other`. */
function textsOf(tree: Tree, before = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === "string") found.set(before + key, value);
    else if (isPlural(value)) found.set(before + key, value["other"] ?? "");
    else for (const entry of textsOf(value, `${before}${key}.`)) found.set(...entry);
  }
  return found;
}

function pluralsOf(tree: Tree): Plural[] {
  return Object.values(tree).flatMap((value) => {
    if (typeof value === "string") return [];
    return isPlural(value) ? [value] : pluralsOf(value);
  });
}

const placeholders = (text: string) => [...text.matchAll(/\{[^}]*\}/g)].flat().sort();
const english = textsOf(treeOf("en"));

test("these, each under its own name", () => {
  expect(TAGS.sort().join(" ")).toBe("ar de en es fr he hi it ja ko nl pl pt ru tr uk zh");
  expect(new Set(TAGS.map((tag) => languageFiles[tag]?.name)).size).toBe(TAGS.length);
});

describe.each(TAGS)("%s", (tag) => {
  const tree = treeOf(tag);
  const texts = textsOf(tree);

  test("says everything that English says, and nothing else, with the same placeholders", () => {
    expect([...texts.keys()].sort()).toEqual([...english.keys()].sort());
    for (const [key, text] of texts) {
      expect([key, text.trim()]).not.toEqual([key, ""]);
      expect([key, ...placeholders(text)]).toEqual([key, ...placeholders(english.get(key) ?? "")]);
    }
  });

  test("plurals have the categories of the language, and no others", () => {
    const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
    const wanted = CATEGORIES.filter((category) => pluralCategories.includes(category as "other"));
    for (const plural of pluralsOf(tree)) {
      expect(CATEGORIES.filter((category) => category in plural)).toEqual(wanted);
      expect(Object.keys(plural)).toHaveLength(wanted.length);
      const all = Object.values(plural).map((text) => placeholders(text).join());
      expect(new Set(all).size).toBe(1);
    }
  });

  test("no markup, no quotation marks of code, no spaces at the ends", () => {
    const every = [
      ...texts.values(),
      ...pluralsOf(tree).flatMap((plural) => Object.values(plural)),
    ];
    for (const text of every) {
      expect(text).not.toMatch(/[<>&"'\\`\p{Cc}]/u);
      expect(text).toBe(text.trim());
    }
  });

  test("is about as long as English: buttons and labels fit a small screen", () => {
    for (const [key, text] of texts) {
      const most = 1.5 * (english.get(key) ?? "").length + 16;
      expect([key, text, text.length <= most]).toEqual([key, text, true]);
    }
  });

  test("direction: right to left where the language's script is", () => {
    const isRightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(tree["name"] as string);
    expect(tree["direction"]).toBe(isRightToLeft ? "rtl" : "ltr");
  });
});
