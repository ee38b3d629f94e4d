/** Tells lists of quantities, as ingredients and nutrients are, from lists of links, names and buttons. */
import { isText } from "domhandler";
import { collapsedText } from "../parse/element-kinds.ts";
import { PageElement } from "../parse/page-tree.ts";

/** Points of a list, characters of a point, and the share of the points that hold a quantity. */
const FEWEST_POINTS = 3;
const MOST_POINTS = 100;
const LONGEST_POINT = 120;
const MOST_MEASURED = 0.5;
/** Characters of a box around such a list, and the share of them that the list has. */
const LONGEST_BOX = 2500;
const SHARE_OF_BOX = 0.6;
const MOST_LINKS = 0.5;
const MOST_LEVELS = 5;

const NUMBER = "(?:\\d|[¼½¾⅓⅔⅛])";
const UNIT = new RegExp(
  `${NUMBER}[\\s\\u00a0]?(?:${[
    "[kmµ]?g|[mcd]?l|kcal|kj|oz|lbs?|cups?|tbsps?|tsps?|tablespoons?|teaspoons?|cloves?|pinch|el|tl|prisen?|stk|dag",
    "càs|càc|cuill\\p{L}*|cda|cdta|cucharad\\p{L}*|cucchiai\\p{L}*|colher\\p{L}*|szklank\\p{L}*|łyż\\p{L}*|msk|tsk|krm",
    "г|гр|кг|мл|л|ст|ч|ккал|шт|стакан\\p{L}*|ложк\\p{L}*",
  ].join(
    "|",
  )})(?![\\p{L}\\p{N}])|${NUMBER}\\s?[克斤勺匙杯個个枚本片]|(?:大さじ|小さじ)\\s?${NUMBER}|${NUMBER}\\s?(?:그램|컵|큰술|작은술)`,
  "iu",
);
const COUNT = new RegExp(`^[^\\p{L}\\p{N}]{0,3}${NUMBER}`, "u");

/** Whether a short line gives a quantity with its unit. */
export const isMeasured = (line: PageElement): boolean =>
  line.textLength <= LONGEST_POINT && UNIT.test(collapsedText(line));

/** Whether most points of a list are quantities. */
export function isMeasuredList({ children }: PageElement): boolean {
  let points = 0;
  let measured = 0;
  let units = 0;
  for (const child of children) {
    if (!(child instanceof PageElement) || child.textLength === 0) continue;
    if (++points > MOST_POINTS || child.textLength > LONGEST_POINT) return false;
    const text = collapsedText(child).slice(0, LONGEST_POINT * 2);
    const hasUnit = UNIT.test(text);
    if (hasUnit) units++;
    if (hasUnit || COUNT.test(text)) measured++;
  }
  return points >= FEWEST_POINTS && units > 0 && measured >= points * MOST_MEASURED;
}

/** Whether a box holds little but a list of quantities. */
export function holdsMeasuredList(box: PageElement): boolean {
  const { textLength, linkLength } = box;
  if (textLength === 0 || textLength > LONGEST_BOX || linkLength > textLength * MOST_LINKS) return false;
  const lists: PageElement[] = [];
  collectLists(box, MOST_LEVELS, lists);
  const listed = lists.reduce((sum, list) => sum + list.textLength, 0);
  return listed >= textLength * SHARE_OF_BOX && lists.some(isMeasuredList);
}

function collectLists(element: PageElement, levels: number, lists: PageElement[]): void {
  if (element.name === "ul" || element.name === "ol") lists.push(element);
  else if (levels > 0) {
    for (const child of element.children) {
      if (!isText(child) && child instanceof PageElement && child.textLength > 0)
        collectLists(child, levels - 1, lists);
    }
  }
}
