/*
 * containers.cpp - what C++ programs are made of: lines of text in a queue under a mutex, words counted in
 * maps of strings, records that several threads hold by shared pointers.
 *
 * Every thread puts in a batch of lines and takes out as many, whoever's they are, so nobody ever waits for a
 * line. The library's templates are instrumented with the program; what lies ready in the C++ library is not.
 */
#include "kernel.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

constexpr size_t batch = 32;
constexpr size_t vocabulary = 2000;
constexpr size_t words_a_line = 12;

using Dictionary = std::map<std::string, uint64_t>;

struct Line {
    std::string text;
    std::shared_ptr<const Dictionary> dictionary;
};

struct Record {
    std::mutex lock;
    uint64_t lines = 0, weight = 0; // under lock
};

class Queue
{
  public:
    void put(std::shared_ptr<Line> line)
    {
        std::lock_guard<std::mutex> guard(lock);
        lines.push_back(std::move(line));
    }
    std::shared_ptr<Line> take()
    {
        std::lock_guard<std::mutex> guard(lock);
        std::shared_ptr<Line> line = std::move(lines.front());
        lines.pop_front();
        return line;
    }

  private:
    std::mutex lock;
    std::deque<std::shared_ptr<Line>> lines; // under lock
};

// Records by the first word of a line; made when first asked for, kept by whoever works with them.
class Index
{
  public:
    std::shared_ptr<Record> find(const std::string &word)
    {
        std::lock_guard<std::mutex> guard(lock);
        auto &slot = records[word];
        if (!slot)
            slot = std::make_shared<Record>();
        return slot;
    }
    uint64_t sum()
    {
        uint64_t all = 0;
        for (auto &[word, record] : records)
            all = kernel_mix(kernel_mix(all, record->lines), record->weight + word.size());
        return all;
    }

  private:
    std::mutex lock;
    std::map<std::string, std::shared_ptr<Record>> records; // under lock
};

std::vector<std::string> words;
std::shared_ptr<const Dictionary> dictionary;
Queue queue;
Index records;
std::unordered_map<std::string, uint64_t> counts[MAX_THREADS];
size_t lines;

std::string make_word(uint64_t number)
{
    uint64_t state = number;
    size_t length = 3 + kernel_random(&state) % 18; // some fit into the string itself, some do not
    std::string word;
    for (size_t i = 0; i < length; i++)
        word += static_cast<char>('a' + kernel_random(&state) % 26);
    return word + std::to_string(number);
}

std::shared_ptr<Line> make_line(uint64_t number)
{
    auto line = std::make_shared<Line>();
    uint64_t state = number;
    for (size_t i = 0; i < words_a_line; i++) {
        line->text += words[kernel_random(&state) % vocabulary];
        line->text += ' ';
    }
    line->dictionary = dictionary;
    return line;
}

void count(const Line &line, std::unordered_map<std::string, uint64_t> &into)
{
    uint64_t weight = 0;
    std::string first;
    for (size_t from = 0, to; (to = line.text.find(' ', from)) != std::string::npos; from = to + 1) {
        std::string word = line.text.substr(from, to - from);
        auto known = line.dictionary->find(word);
        weight += known->second;
        if (from == 0)
            first = word;
        into[std::move(word)]++;
    }
    std::shared_ptr<Record> record = records.find(first);
    std::lock_guard<std::mutex> guard(record->lock);
    record->lines++;
    record->weight += weight;
}

void *body(void *index)
{
    unsigned me = static_cast<unsigned>(reinterpret_cast<uintptr_t>(index));
    size_t lo, hi;
    kernel_share(lines, me, &lo, &hi);
    for (size_t i = lo; i < hi; i += batch) {
        size_t end = i + batch < hi ? i + batch : hi;
        for (size_t k = i; k < end; k++)
            queue.put(make_line(k));
        for (size_t k = i; k < end; k++)
            count(*queue.take(), counts[me]);
    }
    return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
    kernel_args(argc, argv);
    lines = kernel_scaled(200u * 1000);
    Dictionary all;
    for (uint64_t i = 0; i < vocabulary; i++) {
        words.push_back(make_word(i));
        all[words.back()] = i * 7 % 101;
    }
    dictionary = std::make_shared<const Dictionary>(std::move(all));
    kernel_run(body);
    std::map<std::string, uint64_t> total;
    for (unsigned i = 0; i < n_threads; i++)
        for (auto &[word, n] : counts[i])
            total[word] += n;
    uint64_t sum = records.sum();
    for (auto &[word, n] : total)
        sum = kernel_mix(sum, n + word.size());
    kernel_print(sum);
    return 0;
}
